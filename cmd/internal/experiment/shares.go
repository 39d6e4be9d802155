package experiment

import (
	"sync"

	"github.com/dptrain/dptrain/tuner"
)

// Shares returns followers for n runs side by side. They pass on warnings, and the share of all work that is done, from
// 0 to 1. They drop notes.
func Shares(n int, warn func(text string), working func(share float64)) []Follower {
	all := &shares{warn: warn, working: working, done: make([]float64, n)}
	out := make([]Follower, n)
	for k := range out {
		out[k] = oneShare{all, k}
	}
	return out
}

// shares adds up the progress of several runs.
type shares struct {
	warn    func(string)
	working func(float64)

	mu   sync.Mutex
	done []float64 // of each run, from 0 to 1
}

// oneShare follows one run.
type oneShare struct {
	all *shares
	run int
}

func (o oneShare) Note(string) {}
func (o oneShare) Warn(text string) {
	o.all.mu.Lock()
	defer o.all.mu.Unlock()
	o.all.warn(text)
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
	s.working(sum / float64(len(s.done)))
}

func (o oneShare) Tuning(p tuner.PrivateProgress) { o.Progress(p.Done, p.Total, "") }
