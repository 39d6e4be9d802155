package campaign

import (
	"sync"

	"github.com/dptrain/dptrain/tuner"
)

// shares adds up the progress of a batch's runs.
type shares struct {
	to    Follower
	batch Batch

	mu   sync.Mutex
	done []float64 // of each run, from 0 to 1
}

func newShares(to Follower, batch Batch) *shares {
	return &shares{to: to, batch: batch, done: make([]float64, len(batch))}
}

func (s *shares) of(run int) oneShare { return oneShare{s, run} }

// oneShare follows one run. It shows nothing but the share of all: what else there is of a run is in its folder.
type oneShare struct {
	all *shares
	run int
}

func (o oneShare) Note(string) {}
func (o oneShare) Warn(text string) {
	o.all.mu.Lock()
	defer o.all.mu.Unlock()
	o.all.to.Warn(text)
}

func (o oneShare) Progress(done, total float64, _ string) {
	if total <= 0 {
		return
	}
	s := o.all
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done[o.run] = min(1, done/total)
	sum := 0.0
	for _, share := range s.done {
		sum += share
	}
	s.to.Working(s.batch, sum/float64(len(s.done)))
}

func (o oneShare) Tuning(p tuner.PrivateProgress) { o.Progress(p.Done, p.Total, "") }
