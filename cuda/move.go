package cuda

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/dptrain/dptrain/cuda/internal/driver"
	"github.com/dptrain/dptrain/internal/engine"
)

// A run whose caller moves its parameters ([engine.Job].Move) takes its steps one by one: the device releases a step's
// noisy mean gradient, and the host moves the parameters by it. The same kernel releases, so that there is only one
// release: it moves zeros, instead of the parameters, by SGD with a learning rate of -1. That gives the mean itself,
// rounded to single precision, and its sign where it is 0, since the zeros are negative.
const releaseRate = -1

// move takes steps[i] steps of run i, which its caller moves. A run whose Move fails stops, in the state before that
// step.
func (p *part) move(ctx context.Context, steps []int) error {
	var from []int
	for i, n := range steps {
		from = append(from, int(p.done[i].Load()))
		if n > 0 { // a failed run has left something there
			if err := p.step.clearScratch(i); err != nil {
				return err
			}
		}
	}
	if err := p.step.setClocks(from, steps); err != nil {
		return err
	}
	for _, w := range p.step.waves() {
		most := slices.Max(steps[w.from : w.from+w.n])
		for taken := 0; taken < most; taken += p.step.ahead {
			n := min(p.step.ahead, most-taken)
			if err := p.step.draw(w, taken, n); err != nil {
				return err
			}
			for slot := range n {
				if ctx.Err() != nil {
					return nil
				}
				if err := errors.Join(p.step.clippedSums(w, taken, slot), p.step.release(w, taken, slot)); err != nil {
					return err
				}
				var runs []int
				for i := w.from; i < w.from+w.n; i++ {
					if taken+slot < steps[i] && p.failed[i] == nil {
						runs = append(runs, i)
					}
				}
				if err := p.moveOnce(runs); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// moveOnce calls the Move of all runs at the same time, with the gradients that the device has released for them, and
// uploads the moved parameters. It calls no Move before it has all gradients. Each Move that returns is a step taken,
// even if the device fails afterwards: the callers' state must be of the same step as the states.
func (p *part) moveOnce(runs []int) error {
	gradients := make([][]float32, len(runs))
	for k, i := range runs {
		gradients[k] = make([]float32, p.layout.Size)
		if err := p.step.released(i, gradients[k]); err != nil {
			return err
		}
	}
	states := make([]engine.State, len(runs))
	var wait sync.WaitGroup
	for k, i := range runs {
		step := int(p.done[i].Load()) + 1
		states[k] = engine.State{Step: step, Params: slices.Clone(p.states[i].Params)}
		wait.Go(func() {
			if err := callMove(p.jobs[i].Move, step, states[k].Params, gradients[k]); err != nil {
				p.failed[i] = fmt.Errorf("step %d: %w", step, err)
			}
		})
	}
	wait.Wait()
	for k, i := range runs {
		if p.failed[i] == nil {
			clearPadding(p.layout, states[k].Params)
			p.states[i] = states[k]
			p.done[i].Store(int64(states[k].Step))
		}
	}
	for k, i := range runs {
		if p.failed[i] != nil {
			continue
		}
		if err := p.step.upload(i, states[k]); err != nil {
			return err
		}
	}
	return nil
}

// clearPadding sets the padding between parameters to 0, whatever Move has written there.
func clearPadding(l engine.Layout, params []float32) {
	for i, at := range l.Offsets {
		end := l.Size
		if i+1 < len(l.Offsets) {
			end = l.Offsets[i+1]
		}
		clear(params[at+l.Lengths[i] : end])
	}
}

// callMove turns a panic into an error. It leaves out the panic's value, which may hold private numbers.
func callMove(move func(int, []float32, []float32) error, step int, params, gradient []float32) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("the function that moves the parameters panicked")
		}
	}()
	return move(step, params, gradient)
}

// makeScratch allocates a row for each run, for gradients released to its caller, if any job has a Move.
func (s *step) makeScratch(jobs []engine.Job, l engine.Layout) (err error) {
	if !slices.ContainsFunc(jobs, func(j engine.Job) bool { return j.Move != nil }) {
		return nil
	}
	s.zeros = make([]float32, l.Size)
	for i, at := range l.Offsets {
		for j := range l.Lengths[i] {
			s.zeros[at+j] = float32(math.Copysign(0, -1))
		}
	}
	s.scratch, err = s.memory.Cleared(4 * l.Size * len(jobs))
	return err
}

func (s *step) clearScratch(run int) error {
	return driver.Upload(s.device, s.scratch, run*len(s.zeros), s.zeros)
}

// release releases a step's sums to the scratch rows of a wave, and not to the optimizer.
func (s *step) release(w wave, launched, slot int) error {
	g, m := s.parameters(w)
	m.Params = s.scratch + driver.Pointer(4*w.from*int(m.Size))
	return s.launchUpdate(w, g, m, launched, slot)
}

// released reads the gradient released to a run's row, and readies the row for the next step.
func (s *step) released(run int, gradient []float32) error {
	return errors.Join(driver.Download(s.device, gradient, s.scratch, run*len(gradient)), s.clearScratch(run))
}
