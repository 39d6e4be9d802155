package page

import (
	"fmt"
	"math"
	"os"

	"github.com/dptrain/dptrain/cmd/internal/runs"
)

// PrivateRun is the content of private/run.json, which no guarantee covers.
type PrivateRun struct {
	runs.PrivateTuning         // Best is -1 without tuning
	Seconds            float64 `json:"seconds"` // without tuning
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
	p := PrivateRun{PrivateTuning: runs.PrivateTuning{Best: -1}}
	found, err := readJSON(folder, "run.json", &p)
	if err != nil || !found {
		return nil, err
	}
	if b := p.Best; b < -1 || b >= len(p.Trials) {
		return nil, fmt.Errorf("%w: %s/run.json: trial %d of %d is the best one", ErrNoRun, folder.Name(), b, len(p.Trials))
	}
	return &p, nil
}

// lost returns the outcome of a trial in words, if it has no score.
func lost(t runs.PrivateTrial) string {
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
