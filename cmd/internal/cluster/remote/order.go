package remote

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/internal/strict"
	"github.com/dptrain/dptrain/train"
)

// Order is a run, or some of a run's trials, that another machine is to carry out.
type Order struct {
	Run  string // id of the run's record. It names the order for good: the same order always has the same draws
	Name string // for people; public
	// Settings are those of the run. Its performance and the paths of own files are those of the machine that trains.
	Settings experiment.Settings
	Trials   []int     // numbers of trials of a tuning; nil for the whole run
	Key      train.Key // never in the order's encoding: it travels by itself
}

// maxOrder bounds an order's encoding, in bytes. A preset's has a five-hundredth of it.
const maxOrder = 1 << 20

// wireOrder is an order's encoding.
type wireOrder struct {
	Run      string  `json:"run"`
	Name     string  `json:"name"`
	Tune     bool    `json:"tune"`
	Seed     *uint64 `json:"insecure_seed,omitempty"`
	Trials   []int   `json:"trials,omitempty"`
	Settings string  `json:"settings"` // YAML
}

// travelling returns settings without what is each machine's own.
func travelling(e settings.Experiment) settings.Experiment {
	e.Performance = settings.Performance{Engine: settings.EngineAuto, Devices: []int{}}
	e.Data.Train, e.Data.Test = "", ""
	return e
}

// Marshal encodes an order without its key.
func (o Order) Marshal() ([]byte, error) {
	text, err := travelling(o.Settings.Experiment).YAML()
	if err != nil {
		return nil, err
	}
	w := wireOrder{o.Run, o.Name, o.Settings.Tune, o.Settings.InsecureSeed, o.Trials, string(text)}
	if err := w.check(); err != nil {
		return nil, fmt.Errorf("encode an order: %w", err)
	}
	out, err := json.Marshal(w)
	if err == nil && len(out) > maxOrder {
		err = fmt.Errorf("encode an order: %d bytes; at most %d can be sent", len(out), maxOrder)
	}
	return out, err
}

func (w wireOrder) check() error {
	switch {
	case !isID(w.Run):
		return fmt.Errorf("run %.40q: want an id of at most %d letters and digits", w.Run, maxID)
	case !isLine(w.Name, maxName):
		return fmt.Errorf("the name of run %s: want a line of at most %d bytes", w.Run, maxName)
	}
	seen := map[int]bool{}
	for _, trial := range w.Trials {
		if trial < 0 || seen[trial] {
			return fmt.Errorf("run %s: trial %d is negative, or stands twice", w.Run, trial)
		}
		seen[trial] = true
	}
	return nil
}

// UnmarshalOrder decodes an order, without a key. It takes nothing that Marshal doesn't write.
func UnmarshalOrder(text []byte) (o Order, err error) {
	if len(text) > maxOrder {
		return o, fmt.Errorf("decode an order: %d bytes; at most %d are read", len(text), maxOrder)
	}
	var w wireOrder
	if err := strict.Decode(text, &w); err != nil {
		return o, fmt.Errorf("decode an order: %w", err)
	}
	if err := w.check(); err != nil {
		return o, fmt.Errorf("decode an order: %w", err)
	}
	o = Order{Run: w.Run, Name: w.Name, Settings: experiment.Settings{Tune: w.Tune, InsecureSeed: w.Seed}, Trials: w.Trials}
	if o.Settings.Experiment, err = settings.Resolve(settings.File{Name: "settings of run " + w.Run, Text: []byte(w.Settings)}, nil); err != nil {
		return Order{}, fmt.Errorf("decode an order: %w", err)
	}
	again, err := o.Marshal()
	if err == nil && !bytes.Equal(again, text) {
		err = errors.New("decode an order: it isn't as Marshal writes it; run the same version everywhere")
	}
	if err != nil {
		return Order{}, err
	}
	return o, nil
}

// Group names what orders have in common that may train side by side: data, model, optimizer, what is tuned and how, or
// of trials the run. It is public, and consists of lower-case letters, digits and "-".
func (o Order) Group() string {
	e := travelling(o.Settings.Experiment)
	if len(o.Trials) > 0 {
		return e.Dataset + "-trials-" + o.Run
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%#v", []any{ // JSON has no infinite numbers, which a clip may have
		e.Dataset, e.Data, e.TextLength, e.Model, e.Activation, e.Training.Optimizer, e.Tuning.Tune, e.Tuning.Search, e.Privacy.Variant, o.Settings.Tune,
	}))
	return e.Dataset + "-" + hex.EncodeToString(sum[:8])
}

// The maximum lengths of texts, in bytes.
const (
	maxID   = 64
	maxName = 200
	maxText = 8 << 10 // of errors
)

// isID reports whether a text can be a run's id, which is part of the names of messages and files.
func isID(text string) bool {
	return text != "" && len(text) <= maxID && strings.Trim(text, "0123456789abcdefghijklmnopqrstuvwxyz") == ""
}
