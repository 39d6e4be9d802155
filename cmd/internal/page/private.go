package page

import (
	"fmt"
	"math"
	"os"

	"github.com/dptrain/dptrain/tuner"
)

// PrivateRun is the content of private/run.json, which no guarantee covers.
type PrivateRun struct {
	Repetitions  int            `json:"repetitions"` // K
	SubsetSize   int            `json:"subset_size"`
	Best         *int           `json:"best"` // index into Trials; -1 for none
	Trials       []PrivateTrial `json:"trials"`
	FinalSeconds float64        `json:"final_seconds"`
	Seconds      float64        `json:"seconds"` // of a run without tuning
	Notes        []string       `json:"notes"`   // on the training rows
}

// PrivateTrial is one trial.
type PrivateTrial struct {
	tuner.Candidate
	Score    *float64 `json:"score"` // nil if it failed or diverged
	Diverged bool     `json:"diverged"`
	Failure  string   `json:"failure"`
	Seconds  float64  `json:"seconds"`
}

// OpenPrivate reads the private folder of a run's folder. It returns nil if there is none, as in a copy of released/.
func OpenPrivate(dir string) (*PrivateRun, error) {
	top, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoRun, err)
	}
	defer top.Close()
	if info, err := top.Lstat("private"); err != nil || !info.IsDir() {
		return nil, nil
	}
	folder, err := top.OpenRoot("private")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoRun, err)
	}
	defer folder.Close()
	var p PrivateRun
	found, err := readJSON(folder, "run.json", &p)
	if err != nil || !found {
		return nil, err
	}
	if b := p.Best; b != nil && (*b < -1 || *b >= len(p.Trials)) {
		return nil, fmt.Errorf("%w: %s/run.json: trial %d of %d is the best one", ErrNoRun, folder.Name(), *b, len(p.Trials))
	}
	return &p, nil
}

// Winner returns the index of the winning trial, or -1.
func (p *PrivateRun) Winner() int {
	if p.Best == nil {
		return -1
	}
	return *p.Best
}

// Outcome returns the outcome of a trial in words, if it has no score.
func (t PrivateTrial) Outcome() string {
	switch {
	case t.Failure != "":
		return "failed: " + shortened(t.Failure, 200)
	case t.Diverged:
		return "diverged"
	case t.Score == nil || math.IsNaN(*t.Score):
		return "no score"
	}
	return ""
}
