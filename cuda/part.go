package cuda

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/dptrain/dptrain/internal/engine"
)

// part is the runs of a group on one device: their states as last read, and their numbers of steps. They advance
// together, by steps of two launches, and one more for each group of minibatches.
type part struct {
	*resident
	step   *step
	first  int // the number of its first run in the group
	jobs   []engine.Job
	done   []atomic.Int64
	states []engine.State // as last read from the device
	stale  []bool         // the run has moved since
	broken error
	failed []error // by run: the error of its Move, until it is restored
	batch  int     // steps between two polls of the device
}

// start begins runs on the device.
func (r *resident) start(jobs []engine.Job, samples int) (_ *part, err error) {
	p := &part{
		resident: r, jobs: slices.Clone(jobs), done: make([]atomic.Int64, len(jobs)),
		stale: make([]bool, len(jobs)), failed: make([]error, len(jobs)), batch: 1,
	}
	if p.step, err = newStep(r.device, r.gradients, r.engine.threads, r.layout, jobs, samples, r.engine.warn); err != nil {
		return nil, err
	}
	for i, job := range jobs {
		s := engine.State{Params: slices.Clone(job.Initial)}
		if job.Optimizer.Method == engine.Adam {
			s.First, s.Second = make([]float32, r.layout.Size), make([]float32, r.layout.Size)
		}
		p.states = append(p.states, s)
		p.jobs[i].Members, p.jobs[i].Initial = nil, nil // the device has them
		if err := p.step.upload(i, s); err != nil {
			return nil, errors.Join(err, p.step.memory.Free())
		}
	}
	return p, nil
}

// advance takes steps[i] steps of run i: first the runs that the device's optimizer moves, then the runs that their
// caller moves. It returns early, after a whole step, if the context is cancelled. Element i of the result is run i's
// error.
func (p *part) advance(ctx context.Context, steps []int) []error {
	if err := p.usable(); err != nil {
		return slices.Repeat([]error{err}, len(steps))
	}
	launched, moved := make([]int, len(steps)), make([]int, len(steps))
	failed := make([]error, len(steps))
	for i, n := range steps {
		switch {
		case n == 0:
		case p.jobs[i].Move == nil:
			launched[i], p.stale[i] = n, true
		case p.failed[i] != nil:
			failed[i] = p.failed[i]
		default:
			moved[i] = n
		}
	}
	for _, part := range []struct {
		steps []int
		take  func(context.Context, []int) error
	}{{launched, p.launch}, {moved, p.move}} {
		if slices.Max(part.steps) == 0 || ctx.Err() != nil {
			continue
		}
		if err := part.take(ctx, part.steps); err != nil {
			p.fail(err)
			return slices.Repeat([]error{p.broken}, len(steps))
		}
	}
	for i, n := range moved {
		if n > 0 {
			failed[i] = p.failed[i]
		}
	}
	return failed
}

// usable returns the reason why the part's runs can't go on, or nil if they can.
func (p *part) usable() error {
	if p.broken == nil && p.freed {
		return errors.New("what was loaded is closed")
	}
	return p.broken
}

// fail ends all runs, in the states that were last read.
func (p *part) fail(err error) {
	p.broken = &DeviceError{p.device.Info().Name, err}
	for i, s := range p.states {
		p.done[i].Store(int64(s.Step))
	}
}

// pollEvery is about the time between two polls of a working device.
const pollEvery = 20 * time.Millisecond

// launch launches the steps, as many between two polls as fill pollEvery.
func (p *part) launch(ctx context.Context, steps []int) error {
	var from []int
	for i := range steps {
		from = append(from, int(p.done[i].Load()))
	}
	if err := p.step.setClocks(from, steps); err != nil {
		return err
	}
	total, waves := slices.Max(steps), p.step.waves()
	for launched := 0; launched < total && ctx.Err() == nil; {
		start := time.Now()
		n := min(p.batch, total-launched)
		for _, w := range waves {
			if err := p.step.take(w, launched, n); err != nil {
				return err
			}
		}
		if err := p.device.Synchronize(); err != nil {
			return err
		}
		launched += n
		counted, err := p.step.done()
		if err != nil {
			return err
		}
		for i, n := range steps {
			done := from[i] + min(launched, n)
			if counted[i] != done {
				return fmt.Errorf("its count of steps is %d where %d were launched", counted[i], done)
			}
			p.done[i].Store(int64(done))
		}
		switch took := time.Since(start); {
		case took < pollEvery/2 && n == p.batch:
			p.batch *= 2
		case took > 2*pollEvery:
			p.batch = max(1, n/2)
		}
	}
	return nil
}

// state returns a copy of a run's state, or of the last one that was read if the device fails.
func (p *part) state(run int) engine.State {
	if p.stale[run] && p.broken == nil {
		s := clone(p.states[run])
		if err := p.step.download(run, s); err != nil {
			p.fail(err)
		} else {
			s.Step = int(p.done[run].Load())
			p.states[run], p.stale[run] = s, false
		}
	}
	return clone(p.states[run])
}

func (p *part) restore(run int, s engine.State) error {
	if err := p.jobs[run].CheckState(s, p.layout); err != nil {
		return fmt.Errorf("restore state: %w", err)
	}
	if err := p.usable(); err != nil {
		return fmt.Errorf("restore state: %w", err)
	}
	p.states[run], p.stale[run], p.failed[run] = clone(s), false, nil
	p.done[run].Store(int64(s.Step))
	if err := p.step.upload(run, s); err != nil {
		p.fail(err)
	}
	return p.broken
}

func clone(s engine.State) engine.State {
	return engine.State{Step: s.Step, Params: slices.Clone(s.Params), First: slices.Clone(s.First), Second: slices.Clone(s.Second)}
}

// predict computes the outputs for samples [from, to) of data by some of the part's runs.
func (p *part) predict(data *engine.Data, from, to int, runs []int32, out [][]float32) error {
	if err := p.usable(); err != nil {
		return err
	}
	return lost(p.device, p.step.predict(data, from, to, runs, out))
}

func (p *part) free() error { return lost(p.device, p.step.memory.Free()) }
