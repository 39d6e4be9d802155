package experiment

import (
	"fmt"
	"strings"

	"github.com/dptrain/dptrain/datasets"
	"github.com/dptrain/dptrain/tuner"
)

// Follower shows people how loading and running get on. Its methods are called one at a time. What they are told can
// depend on private rows.
type Follower interface {
	Note(text string)
	Warn(text string)
	// Progress reports how much of the work is done, in any unit, and what is going on.
	Progress(done, total float64, what string)
	// Tuning reports a turn of events of a tuning.
	Tuning(tuner.PrivateProgress)
}

// Downloads returns the progress of downloads, for a follower.
func Downloads(f Follower) func(datasets.Progress) {
	return func(p datasets.Progress) { f.Progress(float64(p.Done), float64(p.Total), p.Task+" "+p.File) }
}

// warnOfFallback reports why a model is slow to train, if it is.
func warnOfFallback(f Follower, reason error) {
	if reason != nil {
		why := strings.ReplaceAll(reason.Error(), "\n", "; ") // each of several engines has a line
		f.Warn(fmt.Sprintf("the model is trained by a slower engine, which takes more time and guarantees the same: %s", why))
	}
}
