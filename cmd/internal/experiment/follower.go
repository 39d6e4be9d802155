package experiment

import (
	"fmt"
	"strings"

	"github.com/dptrain/dptrain/internal/datasets"
	"github.com/dptrain/dptrain/tuner"
)

// Follower receives the progress of a plan that is loaded and run. Its methods are called one at a time. Their
// arguments can depend on private rows.
type Follower interface {
	Note(text string)
	Warn(text string)
	// Progress reports that done of total units of work are done. what describes the current work.
	Progress(done, total float64, what string)
	// Tuning reports an event of a tuning.
	Tuning(tuner.PrivateProgress)
}

// Downloads returns a function that reports downloads to a follower.
func Downloads(f Follower) func(datasets.Progress) {
	return func(p datasets.Progress) { f.Progress(float64(p.Done), float64(p.Total), p.Task+" "+p.File) }
}

// warnOfFallback warns that a slower engine trains, unless reason is nil.
func warnOfFallback(f Follower, reason error) {
	if reason != nil {
		why := strings.ReplaceAll(reason.Error(), "\n", "; ") // one line for each engine
		f.Warn(fmt.Sprintf("the model is trained by a slower engine, which takes more time and guarantees the same: %s", why))
	}
}

// warnAll is warnOfFallback for the followers of all members.
func warnAll(members []*member, reason error) {
	for _, m := range members {
		warnOfFallback(m.Follower, reason)
	}
}
