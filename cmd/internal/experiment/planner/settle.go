package planner

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/tuner"
)

// line holds the options of one method and family, by subset rate.
type line struct {
	method  tuner.Method
	trials  Trials
	rates   []float64
	ratio   float64 // of the noise in mode Best to that in mode Tight, at the last rate
	options []Option
}

// usualRatio is a line's first guess of its ratio. A poor guess costs time alone.
const usualRatio = 0.8

// settleAll settles lines side by side, each from one subset rate to the next.
func (s Settings) settleAll(ctx context.Context, lines []*line, progress func(done, total int)) error {
	total, done := 0, 0
	for _, l := range lines {
		total += len(l.rates)
	}
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, l := range lines {
		group.Go(func() error {
			for _, q := range l.rates {
				if err := s.settle(ctx, l, q); err != nil {
					return err
				}
				mu.Lock()
				done++
				if progress != nil {
					progress(done, total)
				}
				mu.Unlock()
			}
			return nil
		})
	}
	return group.Wait()
}

// settle adds the option at one subset rate.
func (s Settings) settle(ctx context.Context, l *line, q float64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	o := Option{Trials: l.trials, Method: l.method, SubsetRate: q, Work: l.method.ExpectedWork(q, l.trials.Repetitions.Expected())}
	noise, err := s.noise(ctx, l, q)
	switch {
	case errors.Is(err, accountant.ErrInfeasible):
		noise = math.Inf(1)
	case err != nil:
		return fmt.Errorf("find the noise of %s at q %v with %s trials: %w", l.method, q, l.trials.Family, err)
	}
	o.NoiseMultiplier = noise
	l.options = append(l.options, o)
	return nil
}

// noise calibrates a plan. In mode Best, whose bounds take long, it stops at the precision of a table.
func (s Settings) noise(ctx context.Context, l *line, q float64) (float64, error) {
	o, best := s.Accounting, s.Accounting.Mode == accountant.Best
	if best {
		o.Mode = accountant.Tight
	}
	tight := 100. // where Rényi bounds have a floor, which pairs don't
	settled, _, err := tuner.Calibrate(s.plan(l.method, q, l.trials, 0), s.Epsilon, s.Delta, o)
	switch {
	case err == nil:
		tight = settled.Space.(tuner.Grid)[0].NoiseMultiplier
	case !best || !errors.Is(err, accountant.ErrInfeasible):
		return 0, err
	}
	if !best {
		return tight, nil
	}
	noise, err := search(s.Epsilon, tight*l.ratio, func(noise float64) (float64, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		g, err := s.plan(l.method, q, l.trials, noise).Guarantee(s.Delta, s.Accounting)
		return g.Epsilon, err
	})
	if err == nil {
		l.ratio = noise / tight
	}
	return noise, err
}

// plan returns the settings of one plan, with the same noise for all candidates.
func (s Settings) plan(m tuner.Method, q float64, t Trials, noise float64) tuner.Settings {
	p := s.Plan
	p.Method, p.SubsetRate, p.Repetitions = m, q, t.Repetitions
	p.Space = s.Grid.WithNoiseMultiplier(noise)
	return p
}

// Within is the maximum share of the target epsilon that the search in mode Best leaves unused.
const Within = 4e-3

// search returns a noise multiplier whose epsilon is at most the target and at least (1-Within) of it, or just below a
// jump of epsilon. Epsilon has to fall with noise. The search follows secants of logarithms, which are nearly straight,
// within a bracket.
func search(target, guess float64, epsilonAt func(noise float64) (float64, error)) (float64, error) {
	const usualSlope = -1.4
	goal := math.Log(target * (1 - Within/2))
	type point struct{ x, y float64 } // logarithms of noise and epsilon
	low, high := point{math.Inf(-1), math.Inf(1)}, point{math.Inf(1), math.Inf(-1)}
	for x := math.Log(guess); ; {
		epsilon, err := epsilonAt(math.Exp(x))
		if err != nil {
			return 0, err
		}
		at := point{x, math.Log(epsilon)}
		if epsilon > target {
			low = at
		} else {
			high = at
			if epsilon >= target*(1-Within) || high.x-low.x < 1e-4 {
				return math.Exp(x), nil
			}
		}
		slope := usualSlope
		if !math.IsInf(low.y, 0) && !math.IsInf(high.y, 0) {
			slope = math.Min(-0.1, (high.y-low.y)/(high.x-low.x))
		}
		x += math.Max(-1, math.Min((goal-at.y)/slope, 1))
		if margin := 0.1 * (high.x - low.x); !math.IsInf(margin, 1) {
			x = math.Max(low.x+margin, math.Min(x, high.x-margin))
		}
		if x > math.Log(accountant.MaxNoise) {
			return 0, fmt.Errorf("find the noise for epsilon %v: %w", target, accountant.ErrInfeasible)
		}
		if x < -math.Log(accountant.MaxNoise) {
			return 0, fmt.Errorf("find the noise for epsilon %v: %w", target, accountant.ErrUnbounded)
		}
	}
}
