package figure

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/dptrain/dptrain/accountant"
)

// BoundsSettings are the runs and bounds that [Bounds] compares.
type BoundsSettings struct {
	SamplingRate    float64           // gamma of every training run
	NoiseMultiplier float64           // sigma of every training run
	Steps           int               // of every training run
	Delta           float64           // of the guarantee
	MeanRepetitions []float64         // mu; one panel for each
	SubsetRates     []float64         // q, ascending: the horizontal axis
	Modes           []accountant.Mode // one set of curves for each
}

// PaperBounds returns the settings of Figure compare_dp_bounds: 50 epochs at sampling rate 1/100, compared in all
// modes. mu is 45, from the figure's caption, and 15, from the paper's experiments.
func PaperBounds() BoundsSettings {
	rates := make([]float64, 99)
	for i := range rates {
		rates[i] = float64(i+1) / 100
	}
	return BoundsSettings{
		SamplingRate:    0.01,
		NoiseMultiplier: 2,
		Steps:           5000,
		Delta:           1e-5,
		MeanRepetitions: []float64{15, 45},
		SubsetRates:     rates,
		Modes:           []accountant.Mode{accountant.Paper, accountant.Tight, accountant.Best},
	}
}

// method is a way to a trained model.
type method struct {
	name, column string // in the key, and in the CSV file
	level        bool   // whether its cost is the same for all q
	event        func(q float64, trials accountant.Repetitions, run accountant.Event) accountant.Event
}

var methods = []method{
	{"variant 1", "variant1", false, accountant.Variant1},
	{"variant 2", "variant2", false, accountant.Variant2},
	{"baseline", "baseline", true, func(_ float64, trials accountant.Repetitions, run accountant.Event) accountant.Event {
		return accountant.Baseline(trials, run)
	}},
	{"base run alone", "base", true, func(_ float64, _ accountant.Repetitions, run accountant.Event) accountant.Event {
		return run
	}},
}

// Bounds compares bounds on the cost of tuning and training together. It shows epsilon as a function of the subset
// rate.
type Bounds struct {
	settings BoundsSettings
	epsilon  [][][][]float64 // by mean, mode, method and subset rate
}

// ComputeBounds computes every point of the figure. It calls progress, which may be nil, from one goroutine at a time.
// The error wraps [accountant.ErrInvalid] if a setting makes no sense or a bound isn't finite.
func ComputeBounds(ctx context.Context, s BoundsSettings, progress func(done, total int)) (Bounds, error) {
	if len(s.MeanRepetitions) == 0 || len(s.SubsetRates) == 0 || len(s.Modes) == 0 {
		return Bounds{}, fmt.Errorf("%w figure: wants at least one mean, one subset rate and one mode", accountant.ErrInvalid)
	}
	if len(s.Modes) > len(strokes) {
		return Bounds{}, fmt.Errorf("%w figure: %d modes; no more than %d can be told apart", accountant.ErrInvalid, len(s.Modes), len(strokes))
	}
	b := Bounds{settings: s, epsilon: make([][][][]float64, len(s.MeanRepetitions))}
	var points []point
	for i := range s.MeanRepetitions {
		b.epsilon[i] = make([][][]float64, len(s.Modes))
		for m := range s.Modes {
			b.epsilon[i][m] = make([][]float64, len(methods))
			for k := range methods {
				b.epsilon[i][m][k] = make([]float64, len(s.SubsetRates))
			}
		}
		for k, method := range methods {
			for j := range s.SubsetRates {
				if j == 0 || !method.level {
					points = append(points, point{i, k, j})
				}
			}
		}
	}
	if err := Compute(ctx, len(points), func(i int) error { return b.compute(points[i]) }, progress); err != nil {
		return Bounds{}, err
	}
	return b, nil
}

// point is the indices of a mean, a method and a subset rate: one position on the curves of all modes.
type point struct{ mean, method, rate int }

// Compute calls one with the indices 0 to n-1, on all cores, until one fails or ctx is done. It calls progress, which
// may be nil, from one goroutine at a time.
func Compute(ctx context.Context, n int, one func(i int) error, progress func(done, total int)) error {
	var mu sync.Mutex
	done := 0
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := one(i); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			done++
			if progress != nil {
				progress(done, n)
			}
			return nil
		})
	}
	return group.Wait()
}

// compute fills in one point in every mode, and with it the whole curve of a level method.
func (b Bounds) compute(p point) error {
	s, method := b.settings, methods[p.method]
	mean, q := s.MeanRepetitions[p.mean], s.SubsetRates[p.rate]
	event := method.event(q, accountant.Poisson{Mean: mean}, accountant.DPSGD(s.SamplingRate, s.NoiseMultiplier, s.Steps))
	for m, mode := range s.Modes {
		g, err := accountant.Epsilon(event, s.Delta, accountant.Options{Mode: mode})
		if err != nil {
			return fmt.Errorf("bound %s at mu %v and q %v: %w", method.name, mean, q, err)
		}
		if math.IsInf(g.Epsilon, 1) {
			return fmt.Errorf("%w figure: no finite epsilon for %s at mu %v and q %v; give more noise or a larger delta",
				accountant.ErrInvalid, method.name, mean, q)
		}
		curve := b.epsilon[p.mean][m][p.method]
		curve[p.rate] = g.Epsilon
		if method.level {
			for j := range curve {
				curve[j] = g.Epsilon
			}
		}
	}
	return nil
}

// Table returns a row for each panel and subset rate, with a column for each method and mode. Epsilons aren't rounded.
func (b Bounds) Table() [][]string {
	s := b.settings
	header := []string{"sampling_rate", "noise_multiplier", "steps", "delta", "mu", "q"}
	for _, mode := range s.Modes {
		for _, method := range methods {
			header = append(header, method.column+"_"+string(mode))
		}
	}
	rows := [][]string{header}
	for i, mean := range s.MeanRepetitions {
		for j, q := range s.SubsetRates {
			row := numbers(s.SamplingRate, s.NoiseMultiplier, float64(s.Steps), s.Delta, mean, q)
			for m := range s.Modes {
				for k := range methods {
					row = append(row, numbers(b.epsilon[i][m][k][j])...)
				}
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// drawing gives each method its marker and colour, and each mode its dash pattern.
func (b Bounds) drawing() drawing {
	s := b.settings
	d := drawing{}
	for i, mean := range s.MeanRepetitions {
		p := panel{
			title: fmt.Sprintf("%v expected trials", mean),
			x:     axis{label: "subset rate q", high: 1},
			y:     axis{label: "epsilon at delta = " + number(s.Delta)},
		}
		every := max(1, len(s.SubsetRates)/6)
		for k := range slices.Backward(methods) {
			for m := range s.Modes {
				if b.drawn(i, m, k) {
					continue
				}
				p.curves = append(p.curves, curve{
					x: s.SubsetRates, y: b.epsilon[i][m][k],
					stroke: strokes[m], marker: markers[k],
					first: (m + 1) * every / (len(s.Modes) + 1), every: every,
				})
			}
		}
		d.panels = append(d.panels, p)
	}
	var byMethod, byMode []keyEntry
	for k, method := range methods {
		byMethod = append(byMethod, keyEntry{method.name, strokes[0], markers[k]})
	}
	for m, mode := range s.Modes {
		byMode = append(byMode, keyEntry{string(mode) + " accounting", strokes[m], marker{}})
	}
	d.key = [][]keyEntry{byMethod, byMode}
	return d
}

// drawn reports whether an earlier mode has the same curve: one run alone costs as much by paper as by tight.
func (b Bounds) drawn(mean, mode, method int) bool {
	for m := range mode {
		if slices.Equal(b.epsilon[mean][m][method], b.epsilon[mean][mode][method]) {
			return true
		}
	}
	return false
}
