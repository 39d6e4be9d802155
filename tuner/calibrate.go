package tuner

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/dptrain/dptrain/accountant"
)

// Guarantee returns the guarantee of tuning and final run together at delta, in [0, 1]. Its epsilon is the smallest
// that the bounds of o give, or +Inf if they give none.
//
// Guarantee reads Method, SubsetRate, Repetitions, HoldOut, and the Space without its learning rates and clipping
// norms. The other fields may be zero; [NewPlan] checks them. If method or subset rate are wrong, the error is a
// [*train.SettingError]; otherwise it is an error of [accountant.Epsilon] and wraps [accountant.ErrInvalid].
func (s Settings) Guarantee(delta float64, o accountant.Options) (accountant.Guarantee, error) {
	if err := s.validateMethod(); err != nil {
		return accountant.Guarantee{}, err
	}
	return accountant.Epsilon(s.Event(), delta, o)
}

// Calibrate returns a copy of s whose tuning and final run together cost at most epsilon at delta, and the guarantee of
// that copy.
//
// In a [Grid] Calibrate replaces the noise multipliers. Candidates with the same sampling rate and steps get the same
// one. Without a Division, one target epsilon holds for every single run, as in the paper's grid search: each gets the
// smallest noise multiplier with which it alone meets the target, and Calibrate chooses the largest target that meets
// the budget. With another [Division] it chooses the smallest noise of the costliest run, which determines the noise of
// the others. If all candidates have the same sampling rate and steps, the result is the smallest noise multiplier that
// meets the budget, rounded up.
//
// In a [Region] whose sampling rates and epochs are lists, Calibrate sets Runs in the same way, or as [CalibrateSteps]
// does if the region has a NoiseMultiplier. In any other Region it sets Line, and [NewPlan] fits each drawn candidate
// to the line.
//
// If samples are held out, Calibrate also sets the noise of their scores, to the smallest that meets the same budget.
//
// Calibrate reads Division and the fields that [Settings.Guarantee] reads; the others may be zero. If method, subset
// rate or division are wrong, the error is a [*train.SettingError]. Otherwise it wraps [accountant.ErrInfeasible] if no
// noise is enough (mode and orders may put a floor under epsilon), or [accountant.ErrInvalid] if an argument or a
// setting is invalid.
//
// The zero accountant.Options choose the best bounds, which need the smallest noise multiplier.
func Calibrate(s Settings, epsilon, delta float64, o accountant.Options) (Settings, accountant.Guarantee, error) {
	if err := s.validateMethod(); err != nil {
		return Settings{}, accountant.Guarantee{}, err
	}
	s = s.own()
	if s.holdsOut() {
		return s.calibrated(epsilon, delta, o, Calibrate)
	}
	if region, ok := s.Space.(Region); ok {
		return s.settle(region, epsilon, delta, o)
	}
	s, err := s.withMinNoise(epsilon, delta, o)
	if err != nil {
		return Settings{}, accountant.Guarantee{}, err
	}
	g, err := s.Guarantee(delta, o)
	return s, g, err
}

// settle returns s with a region whose Runs or Line are set, and the guarantee.
func (s Settings) settle(r Region, epsilon, delta float64, o accountant.Options) (Settings, accountant.Guarantee, error) {
	kinds, finite, err := r.kinds()
	switch {
	case err != nil:
		return Settings{}, accountant.Guarantee{}, err
	case finite:
		calibrate := Calibrate
		if r.NoiseMultiplier > 0 {
			calibrate = CalibrateSteps
		}
		s.Space = kinds
		calibrated, g, err := calibrate(s, epsilon, delta, o)
		if err != nil {
			return Settings{}, accountant.Guarantee{}, err
		}
		r.Runs = calibrated.Space.(Grid).Runs()
		calibrated.Space = r
		return calibrated, g, nil
	}
	r.Runs = nil
	if s.Space, err = s.drawLine(r, epsilon, delta, o); err != nil {
		return Settings{}, accountant.Guarantee{}, err
	}
	g, err := s.Guarantee(delta, o)
	return s, g, err
}

// CalibrateSteps is like [Calibrate], but keeps the noise multipliers of a [Grid] and replaces its steps. Candidates
// with the same sampling rate and noise multiplier get the same number of steps, the largest with which a run alone
// meets the common target. Division has no effect: the noise is given, so there is none to divide. For a [Region] it
// does what Calibrate does.
//
// The error wraps [accountant.ErrInfeasible] if epsilon doesn't allow a candidate even one step, and
// [accountant.ErrUnbounded] if any number of steps meets epsilon.
func CalibrateSteps(s Settings, epsilon, delta float64, o accountant.Options) (Settings, accountant.Guarantee, error) {
	if s.holdsOut() {
		return s.calibrated(epsilon, delta, o, CalibrateSteps)
	}
	grid, ok := s.own().Space.(Grid)
	if !ok {
		return Calibrate(s, epsilon, delta, o)
	}
	if err := s.validateMethod(); err != nil {
		return Settings{}, accountant.Guarantee{}, err
	}
	longer := func(steps int) Settings {
		s := s
		s.Space = grid.longer(steps, calibration{delta: delta, options: o})
		return s
	}
	steps, err := accountant.CalibrateSteps(epsilon, delta, o, func(steps int) accountant.Event { return longer(steps).Event() })
	if err != nil {
		return Settings{}, accountant.Guarantee{}, err
	}
	s = longer(steps)
	for _, r := range s.Space.(Grid).Runs() {
		if r.Steps == 0 {
			return Settings{}, accountant.Guarantee{}, fmt.Errorf("epsilon %v at delta %v doesn't allow one step at sampling rate %v with noise multiplier %v: %w", epsilon, delta, r.SamplingRate, r.NoiseMultiplier, accountant.ErrInfeasible)
		}
	}
	g, err := s.Guarantee(delta, o)
	return s, g, err
}

// calibration computes the targets of single runs, at delta, by the conversion from Rényi divergences: it is fast, and
// targets only have to be comparable. The whole plan is charged by its own bounds.
type calibration struct {
	delta    float64
	options  accountant.Options
	division Division // of noise only
}

func (c calibration) alone() accountant.Options {
	return accountant.Options{Mode: accountant.Paper, Orders: c.options.Orders}
}

// target returns the epsilon of a run alone: the target for the noise or steps of the others.
func (c calibration) target(r Run) float64 {
	g, err := accountant.Epsilon(r.event(), c.delta, c.alone())
	if err != nil {
		return math.Inf(1) // accounting for the plan reports the reason
	}
	return g.Epsilon
}

// withMinNoise returns s with the smallest noise in its family of spaces, by [Space].noisy, that meets epsilon.
func (s Settings) withMinNoise(epsilon, delta float64, o accountant.Options) (Settings, error) {
	noisy := func(noise float64) Settings {
		s := s
		if s.Space != nil {
			s.Space = s.Space.noisy(noise, calibration{delta, o, s.Division})
		}
		return s
	}
	noise, err := accountant.CalibrateNoise(epsilon, delta, o, func(noise float64) accountant.Event { return noisy(noise).Event() })
	return noisy(noise), err
}

// noisy returns the grid in which the runs that cost most at equal noise have the given noise. The division computes
// the others' noise from it and from the smallest noise with which they, each alone, cost no more. More noise lowers
// that common target, so no smallest noise falls, nor does the given noise or a geometric mean of the two: the plan's
// cost doesn't rise. So the family is monotone, up to the searches' relative 1e-9, and a result is charged as it is. In
// a grid of one kind of run all have the given noise.
func (g Grid) noisy(noise float64, c calibration) Space {
	given := g.costliest()
	given.NoiseMultiplier = noise
	found := levelled(g, given, noise, Run.noiseless, c, func(r Run, target func() float64) float64 {
		if c.division == EqualNoise {
			return noise
		}
		return r.minNoise(target(), noise, c)
	})
	out := slices.Clone(g)
	for i, candidate := range out {
		out[i].NoiseMultiplier = found[candidate.run().noiseless()]
	}
	return out
}

// levelled returns a value for each kind of run in the grid: own for the kind of the given run, and for any other kind
// the result of find. find gets the target of the given run, which is computed once, on demand.
func levelled[T any](g Grid, given Run, own T, kind func(Run) Run, c calibration, find func(kind Run, target func() float64) T) map[Run]T {
	found := map[Run]T{kind(given): own}
	target := sync.OnceValue(func() float64 { return c.target(given) })
	for _, r := range g.Runs() {
		k := kind(r)
		if _, ok := found[k]; !ok {
			found[k] = find(k, target)
		}
	}
	return found
}

// costliest returns the run that costs most at equal noise, by the leading term of its cost.
func (g Grid) costliest() Run {
	var costliest Run
	maximum := math.Inf(-1)
	for _, r := range g.Runs() {
		if cost := r.SamplingRate * r.SamplingRate * float64(r.Steps); cost > maximum {
			costliest, maximum = r, cost
		}
	}
	return costliest
}

// noiseless returns the run with a noise multiplier of 0, which identifies its kind in a search for noise.
func (r Run) noiseless() Run {
	r.NoiseMultiplier = 0
	return r
}

// minNoise returns the smallest noise multiplier with which the run meets the target, or otherwise if there is none:
// for a target that isn't finite, or a run that makes no sense.
func (r Run) minNoise(target, otherwise float64, c calibration) float64 {
	noise, err := accountant.CalibrateNoise(target, c.delta, c.alone(), func(noise float64) accountant.Event {
		r.NoiseMultiplier = noise
		return r.event()
	})
	if err != nil {
		return otherwise
	}
	return noise
}

// longer returns the grid in which the runs with the cheapest, and so finest, steps take the given number of steps. The
// others take the largest number with which they, each alone, cost no more.
func (g Grid) longer(steps int, c calibration) Grid {
	var fine Run
	minimum := math.Inf(1)
	for _, r := range g.Runs() {
		if cost := r.SamplingRate / r.NoiseMultiplier; cost < minimum {
			fine, minimum = r, cost
		}
	}
	fine.Steps = steps
	found := levelled(g, fine, steps, Run.stepless, c, func(r Run, target func() float64) int { return r.maxSteps(target(), steps, c) })
	out := slices.Clone(g)
	for i, candidate := range out {
		out[i].Steps = found[candidate.run().stepless()]
	}
	return out
}

// stepless returns the run with 0 steps, which identifies its kind in a search for steps.
func (r Run) stepless() Run {
	r.Steps = 0
	return r
}

// maxSteps returns the largest number of steps with which the run meets the target, or otherwise if any number does.
func (r Run) maxSteps(target float64, otherwise int, c calibration) int {
	steps, err := accountant.CalibrateSteps(target, c.delta, c.alone(), func(steps int) accountant.Event {
		r.Steps = steps
		return r.event()
	})
	if err != nil {
		return otherwise
	}
	return steps
}

// lineOrders are the highest orders of the lines that drawLine tries. The guarantee uses few orders, and any more would
// force more noise on candidates, since a run's divergence grows faster than a line from some order on. The paper's
// figure goes to 24.
var lineOrders = []int{3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256}

// drawLine returns the region with the line that gives its first candidate the least noise, or the most steps. The
// choice depends on public numbers alone. In mode Best a calibration takes seconds: then the line has the orders that
// are best in mode Tight.
func (s Settings) drawLine(r Region, epsilon, delta float64, o accountant.Options) (Region, error) {
	if o.Mode != accountant.Best && o.Mode != "" {
		return s.bestLine(r, epsilon, delta, o, lineOrders)
	}
	tight, err := s.bestLine(r, epsilon, delta, accountant.Options{Mode: accountant.Tight, Orders: o.Orders}, lineOrders)
	if err != nil {
		return s.bestLine(r, epsilon, delta, o, lineOrders)
	}
	return s.bestLine(r, epsilon, delta, o, []int{tight.Line.Orders.High})
}

// bestLine is drawLine for lines up to one of the given orders.
func (s Settings) bestLine(r Region, epsilon, delta float64, o accountant.Options, highest []int) (Region, error) {
	best, found := Region{}, Candidate{}
	var failed error
	for _, high := range highest {
		r.Line = accountant.RDPLine{Orders: accountant.Orders{Low: 2, High: high}}
		s.Space = r
		calibrated, err := s.withMinNoise(epsilon, delta, o)
		if err != nil {
			failed = err
			continue
		}
		r := calibrated.Space.(Region)
		first, err := r.first()
		if err != nil {
			failed = err
			continue
		}
		if best.Line.Slope == 0 || first.NoiseMultiplier < found.NoiseMultiplier || first.Steps > found.Steps {
			best, found = r, first
		}
	}
	if best.Line.Slope == 0 {
		return Region{}, failed
	}
	return best, nil
}
