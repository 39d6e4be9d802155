package tuner

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/dptrain/dptrain/accountant"
)

// Guarantee returns what tuning and final run guarantee together at delta, in [0, 1]: the smallest epsilon that the
// options' bounds give, +Inf where they give none.
//
// It reads what the cost follows from: Method, SubsetRate, Repetitions, and all of the candidates but their learning
// rates and clipping norms; of a [Region] its line. The rest may be missing; [NewPlan] refuses settings that can't be used.
// The error is a [*train.SettingError] for method or subset rate, or one of [accountant.Epsilon], which wraps
// [accountant.ErrInvalid].
func (s Settings) Guarantee(delta float64, o accountant.Options) (accountant.Guarantee, error) {
	if err := s.validateMethod(); err != nil {
		return accountant.Guarantee{}, err
	}
	return accountant.Epsilon(s.Event(), delta, o)
}

// Calibrate returns a copy of s for which tuning and final run together guarantee at most epsilon at delta, and that
// guarantee, which was computed for what is returned.
//
// Of a [Grid] it finds the noise multipliers; those in s are ignored. Candidates of one sampling rate and number of steps
// get the same, and each the smallest with which one run alone meets a target that all have in common (the paper's grid
// search): of these families, which cost less the more noise they have, it takes the one of the least noise. Where all
// candidates have the same sampling rate and steps, that is the smallest noise multiplier that meets epsilon, rounded up.
//
// Of a [Region] whose sampling rates and epochs are in lists it does the same, and else it finds the line below which
// candidates are fitted as they are drawn.
//
// Calibrate reads what [Settings.Guarantee] does, and the rest may be missing. The error is a [*train.SettingError] for
// method or subset rate, or one of [accountant.CalibrateNoise]: it wraps [accountant.ErrInfeasible] where no noise is
// enough, as where mode and orders put a floor under epsilon, and [accountant.ErrInvalid] where an argument or a setting
// makes no sense.
//
// The zero accountant.Options are the best bounds, which need the least noise.
func Calibrate(s Settings, epsilon, delta float64, o accountant.Options) (Settings, accountant.Guarantee, error) {
	if err := s.validateMethod(); err != nil {
		return Settings{}, accountant.Guarantee{}, err
	}
	s = s.own()
	if region, ok := s.Space.(Region); ok {
		return s.settle(region, epsilon, delta, o)
	}
	s, err := s.leastNoisy(epsilon, delta, o)
	if err != nil {
		return Settings{}, accountant.Guarantee{}, err
	}
	g, err := s.Guarantee(delta, o)
	return s, g, err
}

// settle finds what the runs of a region may cost.
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

// CalibrateSteps is [Calibrate] for given noise: of a [Grid] it finds the steps, and those in s are ignored. Candidates of
// one sampling rate and noise multiplier get the same, and each the largest number with which one run alone meets a target
// that all have in common. Of a [Region] it does what Calibrate does.
//
// The error wraps [accountant.ErrInfeasible] where a candidate can't take a step, and [accountant.ErrUnbounded] where any
// number of steps meets epsilon.
func CalibrateSteps(s Settings, epsilon, delta float64, o accountant.Options) (Settings, accountant.Guarantee, error) {
	grid, ok := s.own().Space.(Grid)
	if !ok {
		return Calibrate(s, epsilon, delta, o)
	}
	if err := s.validateMethod(); err != nil {
		return Settings{}, accountant.Guarantee{}, err
	}
	longer := func(steps int) Settings {
		s := s
		s.Space = grid.longer(steps, calibration{delta, o})
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

// calibration is what the targets of single runs are measured by: the conversion from Rényi divergences, which is fast and
// which for one run is the same in all modes that stay with it. The plan as a whole is charged by its own bounds.
type calibration struct {
	delta   float64
	options accountant.Options
}

func (c calibration) alone() accountant.Options {
	return accountant.Options{Mode: accountant.Paper, Orders: c.options.Orders}
}

// target is what a run alone costs: what the others' noise or steps are found for.
func (c calibration) target(r Run) float64 {
	g, err := accountant.Epsilon(r.event(), c.delta, c.alone())
	if err != nil {
		return math.Inf(1) // whoever accounts for the plan says why
	}
	return g.Epsilon
}

func (s Settings) leastNoisy(epsilon, delta float64, o accountant.Options) (Settings, error) {
	noisy := func(noise float64) Settings {
		s := s
		if s.Space != nil {
			s.Space = s.Space.noisy(noise, calibration{delta, o})
		}
		return s
	}
	noise, err := accountant.CalibrateNoise(epsilon, delta, o, func(noise float64) accountant.Event { return noisy(noise).Event() })
	return noisy(noise), err
}

// noisy gives the given noise to the runs that cost most at equal noise, and all others the smallest with which they cost
// no more than those, each alone. With more noise that common target falls and no noise multiplier falls, so that the
// plan's cost doesn't rise: the family is monotone (but for the searches' relative 1e-9; what is found is charged as it is).
// A sole kind of run has just the given noise.
func (g Grid) noisy(noise float64, c calibration) Space {
	dear := g.dearest()
	dear.NoiseMultiplier = noise
	found := levelled(g, dear, noise, Run.without, c, func(r Run, target float64) float64 { return r.leastNoise(target, noise, c) })
	out := slices.Clone(g)
	for i, candidate := range out {
		out[i].NoiseMultiplier = found[candidate.run().without()]
	}
	return out
}

// levelled gives the kind of the given run its own value, and each other kind in the grid what is found for it with the
// target of that run alone. A grid of one kind needs no target.
func levelled[T any](g Grid, given Run, own T, kind func(Run) Run, c calibration, find func(kind Run, target float64) T) map[Run]T {
	found := map[Run]T{kind(given): own}
	target := sync.OnceValue(func() float64 { return c.target(given) })
	for _, r := range g.Runs() {
		k := kind(r)
		if _, ok := found[k]; !ok {
			found[k] = find(k, target())
		}
	}
	return found
}

// dearest returns the run that costs most at equal noise, by the leading term of its cost.
func (g Grid) dearest() Run {
	var dear Run
	most := math.Inf(-1)
	for _, r := range g.Runs() {
		if cost := r.SamplingRate * r.SamplingRate * float64(r.Steps); cost > most {
			dear, most = r, cost
		}
	}
	return dear
}

// without returns the run but for its noise.
func (r Run) without() Run {
	r.NoiseMultiplier = 0
	return r
}

// leastNoise returns the smallest noise with which the run meets the target, and otherwise where there is none: with a
// target that isn't finite, or a run that makes no sense.
func (r Run) leastNoise(target, otherwise float64, c calibration) float64 {
	noise, err := accountant.CalibrateNoise(target, c.delta, c.alone(), func(noise float64) accountant.Event {
		r.NoiseMultiplier = noise
		return r.event()
	})
	if err != nil {
		return otherwise
	}
	return noise
}

// longer gives the given steps to the runs that cost least for each step, where steps are finest, and all others the most
// with which they cost no more than those, each alone.
func (g Grid) longer(steps int, c calibration) Grid {
	var fine Run
	least := math.Inf(1)
	for _, r := range g.Runs() {
		if cost := r.SamplingRate / r.NoiseMultiplier; cost < least {
			fine, least = r, cost
		}
	}
	fine.Steps = steps
	found := levelled(g, fine, steps, Run.stepless, c, func(r Run, target float64) int { return r.mostSteps(target, steps, c) })
	out := slices.Clone(g)
	for i, candidate := range out {
		out[i].Steps = found[candidate.run().stepless()]
	}
	return out
}

func (r Run) stepless() Run {
	r.Steps = 0
	return r
}

// mostSteps returns the most steps with which the run meets the target, and otherwise where any number does.
func (r Run) mostSteps(target float64, otherwise int, c calibration) int {
	steps, err := accountant.CalibrateSteps(target, c.delta, c.alone(), func(steps int) accountant.Event {
		r.Steps = steps
		return r.event()
	})
	if err != nil {
		return otherwise
	}
	return steps
}

// lineOrders are the orders up to which a line is tried. Few are used by the guarantee, and higher ones would only hold
// candidates down: a run's divergence grows faster than a line from some order on. The paper's figure goes to 24.
var lineOrders = []int{3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256}

// drawLine returns the region with the line that leaves its first candidate the least noise, or the most steps. The choice
// among the lines is public, as all that it is made by.
func (s Settings) drawLine(r Region, epsilon, delta float64, o accountant.Options) (Region, error) {
	best, found := Region{}, Candidate{}
	var failed error
	for _, high := range lineOrders {
		r.Line = accountant.RDPLine{Orders: accountant.Orders{Low: 2, High: high}}
		s.Space = r
		calibrated, err := s.leastNoisy(epsilon, delta, o)
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
