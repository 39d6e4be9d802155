package remote

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/internal/strict"
)

// Delivery is what an order came to.
type Delivery struct {
	Run        string // the order's
	Failure    string // why it gave no model; empty if it gave one
	Machine    string // that trained: engine, processor, cores
	Arithmetic string // in which it trained: see [experiment.Plan.Arithmetic]
	Identity   string // of the run: see [experiment.Plan.Identity]; private

	// Of a run that gave a model.
	Score    release.Score
	Released map[string][]byte // the files of released/, by their slash-separated names
	Private  []byte            // private/run.json
	Trials   []byte            // outcomes of trials, by tuner.MarshalOutcomes
}

// The maximum sizes of a delivery, far above those of models that can be trained.
const (
	maxDelivery = 1 << 30 // bytes of all contents together
	maxFiles    = 100     // in released/
)

// wireDelivery is a delivery's encoding. JSON has bytes in base64.
type wireDelivery struct {
	Run        string            `json:"run"`
	Failure    string            `json:"failure,omitempty"`
	Machine    string            `json:"machine"`
	Arithmetic string            `json:"arithmetic"`
	Identity   string            `json:"identity"`
	Metric     string            `json:"metric,omitempty"`
	Score      float64           `json:"score"`
	Released   map[string][]byte `json:"released,omitempty"`
	Private    []byte            `json:"private,omitempty"`
	Trials     []byte            `json:"trials,omitempty"`
}

// Marshal encodes a delivery.
func (d Delivery) Marshal() ([]byte, error) {
	if err := d.Check(); err != nil {
		return nil, fmt.Errorf("encode a delivery: %w", err)
	}
	return json.Marshal(wireDelivery{
		d.Run, d.Failure, d.Machine, d.Arithmetic, d.Identity, string(d.Score.Metric), d.Score.Value,
		d.Released, d.Private, d.Trials,
	})
}

// UnmarshalDelivery decodes a delivery. It takes nothing that Marshal doesn't write.
func UnmarshalDelivery(text []byte) (Delivery, error) {
	const most = maxDelivery/3*4 + 1<<20 // base64, and the rest
	if len(text) > most {
		return Delivery{}, fmt.Errorf("decode a delivery: %d bytes; at most %d are read", len(text), most)
	}
	var w wireDelivery
	if err := strict.Decode(text, &w); err != nil {
		return Delivery{}, fmt.Errorf("decode a delivery: %w", err)
	}
	d := Delivery{
		w.Run, w.Failure, w.Machine, w.Arithmetic, w.Identity, release.ScoreOf(w.Metric, w.Score),
		w.Released, w.Private, w.Trials,
	}
	again, err := d.Marshal()
	if err == nil && !bytes.Equal(again, text) {
		err = errors.New("it isn't as Marshal writes it; run the same version everywhere")
	}
	if err != nil {
		return Delivery{}, fmt.Errorf("decode a delivery: %w", err)
	}
	return d, nil
}

// Check returns an error for a delivery that no machine makes: with names that lead out of a folder, with texts that a
// terminal would obey, too large, or neither a model nor a failure.
func (d Delivery) Check() error {
	if !isID(d.Run) {
		return fmt.Errorf("run %.40q: want an id of at most %d letters and digits", d.Run, maxID)
	}
	for _, t := range []struct {
		what, text string
		most       int
	}{{"machine", d.Machine, maxName}, {"arithmetic", d.Arithmetic, maxName}, {"identity", d.Identity, maxName}, {"metric", string(d.Score.Metric), maxName}, {"failure", d.Failure, maxText}} {
		if !isLine(t.text, t.most) {
			return fmt.Errorf("run %s: %s: want a line of at most %d bytes", d.Run, t.what, t.most)
		}
	}
	some := len(d.Released) > 0 || len(d.Private) > 0
	switch all := len(d.Released) > 0 && len(d.Private) > 0; {
	case d.Failure != "" && (some || d.Score != release.Score{}):
		return fmt.Errorf("run %s: a failure and a model", d.Run)
	case d.Failure == "" && !all && (some || len(d.Trials) == 0):
		return fmt.Errorf("run %s: neither a whole model nor a failure", d.Run)
	}
	if v := d.Score.Value; math.IsNaN(v) || math.IsInf(v, 0) {
		return fmt.Errorf("run %s: a score of %v", d.Run, v)
	}
	return d.checkFiles()
}

func (d Delivery) checkFiles() error {
	if len(d.Released) > maxFiles {
		return fmt.Errorf("run %s: %d released files; at most %d are taken", d.Run, len(d.Released), maxFiles)
	}
	size := len(d.Private) + len(d.Trials)
	for name, content := range d.Released {
		if !isLocal(name) {
			return fmt.Errorf("run %s: %.40q is no name of a released file", d.Run, name)
		}
		size += len(content)
	}
	if size > maxDelivery {
		return fmt.Errorf("run %s: %d bytes; at most %d are taken", d.Run, size, maxDelivery)
	}
	return nil
}

// isLocal reports whether a name stays in its folder, on every platform.
func isLocal(name string) bool {
	return fs.ValidPath(name) && isLine(name, maxName) && name[0] != '.' && !strings.Contains(name, "/.") && !strings.ContainsAny(name, `\:`)
}

// isLine reports whether a text is one printable line.
func isLine(text string, most int) bool {
	return len(text) <= most && utf8.ValidString(text) && !strings.ContainsFunc(text, unprintable)
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) }

// line makes a printable line of a text.
func line(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		if unprintable(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, " "))
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "")
	}
	return text
}
