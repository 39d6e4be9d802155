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

// Job is a run, or some trials of a run, that a worker is to train.
type Job struct {
	Run  string // id of the run's record. Jobs of one id have the same draws, wherever and however often trained
	Name string // for people; public
	// Settings are the run's. Performance and paths of own files are each worker's own, and don't travel.
	Settings experiment.Settings
	Trials   []int     // numbers of trials of a tuning; nil for the whole run
	Key      train.Key // travels by itself: no encoding of a job has it
}

// maxJob bounds a job's encoding, in bytes. A preset's takes a five-hundredth of it.
const maxJob = 1 << 20

// wireJob is a job's encoding.
type wireJob struct {
	Run      string  `json:"run"`
	Name     string  `json:"name"`
	Tune     bool    `json:"tune"`
	Seed     *uint64 `json:"insecure_seed,omitempty"`
	Trials   []int   `json:"trials,omitempty"`
	Settings string  `json:"settings"` // YAML
}

// travelling returns settings without performance and paths, which are each worker's own.
func travelling(e settings.Experiment) settings.Experiment {
	e.Performance = settings.Performance{Engine: settings.EngineAuto, Devices: []int{}}
	e.Data.Train, e.Data.Test = "", ""
	return e
}

// Marshal encodes a job without its key.
func (j Job) Marshal() ([]byte, error) {
	text, err := travelling(j.Settings.Experiment).YAML()
	if err != nil {
		return nil, err
	}
	w := wireJob{j.Run, j.Name, j.Settings.Tune, j.Settings.InsecureSeed, j.Trials, string(text)}
	if err := w.check(); err != nil {
		return nil, fmt.Errorf("encode a job: %w", err)
	}
	out, err := json.Marshal(w)
	if err == nil && len(out) > maxJob {
		err = fmt.Errorf("encode a job: %d bytes; at most %d can be sent", len(out), maxJob)
	}
	return out, err
}

func (w wireJob) check() error {
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

// UnmarshalJob decodes a job, without a key. It takes nothing that Marshal doesn't write.
func UnmarshalJob(text []byte) (j Job, err error) {
	if len(text) > maxJob {
		return j, fmt.Errorf("decode a job: %d bytes; at most %d are read", len(text), maxJob)
	}
	var w wireJob
	if err := strict.Decode(text, &w); err != nil {
		return j, fmt.Errorf("decode a job: %w", err)
	}
	if err := w.check(); err != nil {
		return j, fmt.Errorf("decode a job: %w", err)
	}
	j = Job{Run: w.Run, Name: w.Name, Settings: experiment.Settings{Tune: w.Tune, InsecureSeed: w.Seed}, Trials: w.Trials}
	if j.Settings.Experiment, err = settings.Resolve(settings.File{Name: "settings of run " + w.Run, Text: []byte(w.Settings)}, nil); err != nil {
		return Job{}, fmt.Errorf("decode a job: %w", err)
	}
	again, err := j.Marshal()
	if err == nil && !bytes.Equal(again, text) {
		err = errors.New("decode a job: it isn't as Marshal writes it; run the same version everywhere")
	}
	if err != nil {
		return Job{}, err
	}
	return j, nil
}

// Group returns the name of the job's group. Jobs of one group may train side by side: they agree in data, model,
// optimizer and method of tuning, or are trials of one run. The name is public: lower-case letters, digits and "-".
func (j Job) Group() string {
	e := travelling(j.Settings.Experiment)
	if len(j.Trials) > 0 {
		return e.Dataset + "-trials-" + j.Run
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%#v", []any{ // JSON has no infinite numbers, which a clip may have
		e.Dataset, e.Data, e.TextLength, e.Model, e.Activation, e.Training.Optimizer, e.Tuning.Tune, e.Tuning.Search, e.Privacy.Variant, j.Settings.Tune,
	}))
	return e.Dataset + "-" + hex.EncodeToString(sum[:8])
}

// The maximum lengths of texts, in bytes.
const (
	maxID   = 64
	maxName = 200
	maxText = 8 << 10 // of errors
)

// isID reports whether a text can be a run's id, which is part of message subjects and file names.
func isID(text string) bool {
	return text != "" && len(text) <= maxID && strings.Trim(text, "0123456789abcdefghijklmnopqrstuvwxyz") == ""
}
