package page

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/cmd/internal/figure"
)

// Accounting is the cost of a run's event, by all modes of accounting.
type Accounting struct {
	Missing string // the reason why there are no curves, or ""

	ByDelta []Cost // epsilon over delta: X is delta
	// BySteps is epsilon at the stated delta if all runs of the plan had another number of steps; X is that number, or
	// a share of the planned steps if the runs differ in steps. It is nil for plans without a number of steps.
	BySteps []Cost
	Steps   int // of each run as planned; 0 if the runs differ
	// ByEpsilon is delta over epsilon, for plans without BySteps; X is epsilon.
	ByEpsilon []Cost
}

// Cost is one point of the curves of all modes. A value is +Inf where a mode has no bound.
type Cost struct {
	X float64
	Y [3]float64 // by the modes in modes
}

// modes are the modes of accounting, from the smallest bound to the largest.
var modes = [3]accountant.Mode{accountant.Best, accountant.Tight, accountant.Paper}

// Resolution of the curves.
const (
	smallestDelta  = -10 // power of ten
	largestDelta   = -2
	shareSteps     = 4 // shares of the planned steps are multiples of a quarter
	largestShare   = 2
	epsilonSteps   = 8 // epsilons are multiples of an eighth of the stated one
	largestEpsilon = 2
)

// point is one value to compute.
type point struct {
	to    *float64
	event accountant.Event
	at    float64 // delta, or epsilon
	delta bool    // the value is delta at an epsilon
	mode  accountant.Mode
}

// Account computes the accounting curves of a released run, which takes seconds. It calls progress, which may be nil,
// from one goroutine at a time. If the run's event is unknown, or doesn't have the stated epsilon, the result says so
// and has no curves. The only error is the context's.
func Account(ctx context.Context, r Run, progress func(done, total int)) (Accounting, error) {
	event, err := r.event()
	if err != nil {
		return Accounting{Missing: err.Error()}, ctx.Err()
	}
	a := Accounting{}
	var points []point
	add := func(costs []Cost, i int, p point) {
		for m := range modes {
			p.to, p.mode = &costs[i].Y[m], modes[m]
			points = append(points, p)
		}
	}
	for power := min(smallestDelta, int(math.Floor(math.Log10(r.Privacy.Delta)))-1); power <= largestDelta; power++ {
		a.ByDelta = append(a.ByDelta, Cost{X: parsed("1", power)})
		if power < largestDelta {
			a.ByDelta = append(a.ByDelta, Cost{X: parsed("3", power)})
		}
	}
	for i, c := range a.ByDelta {
		add(a.ByDelta, i, point{event: event, at: c.X})
	}
	if steps, ok := stepsOf(event); ok {
		a.Steps = common(steps)
		var shares []float64
		for i := range shareSteps * largestShare {
			share := float64(i+1) / shareSteps
			x := share
			if a.Steps > 0 {
				x = math.Max(1, math.Round(share*float64(a.Steps)))
			}
			if n := len(a.BySteps); n > 0 && a.BySteps[n-1].X == x { // of very few steps
				continue
			}
			a.BySteps, shares = append(a.BySteps, Cost{X: x}), append(shares, share)
		}
		for i, share := range shares {
			add(a.BySteps, i, point{event: scaled(event, share), at: r.Privacy.Delta})
		}
	} else {
		a.ByEpsilon = make([]Cost, epsilonSteps*largestEpsilon)
		for i := range a.ByEpsilon {
			a.ByEpsilon[i].X = r.Privacy.Epsilon * float64(i+1) / epsilonSteps
			add(a.ByEpsilon, i, point{event: event, at: a.ByEpsilon[i].X, delta: true})
		}
	}
	return a, figure.Compute(ctx, len(points), func(i int) error {
		*points[i].to = points[i].value()
		return nil
	}, progress)
}

// parsed returns the float64 closest to m times a power of ten. A product with math.Pow10 is rounded twice.
func parsed(m string, power int) float64 {
	v, _ := strconv.ParseFloat(m+"e"+strconv.Itoa(power), 64)
	return v
}

// eventTolerance is the maximum relative difference between the stated epsilon and the event's.
const eventTolerance = 1e-6

// event returns the event in the run's manifest, if its epsilon is the stated one. Otherwise the curves would belong to
// another run.
func (r Run) event() (accountant.Event, error) {
	if r.Manifest == nil || len(r.Manifest.Event) == 0 {
		return nil, errors.New("the run’s event is in run.json, which isn’t beside the folder released")
	}
	event, err := accountant.UnmarshalEvent(r.Manifest.Event)
	if err != nil {
		return nil, err
	}
	p := r.Privacy
	g, err := accountant.Epsilon(event, p.Delta, accountant.Options{Mode: accountant.Mode(p.Accounting)})
	if err != nil {
		return nil, err
	}
	if !(math.Abs(g.Epsilon-p.Epsilon) <= eventTolerance*p.Epsilon) {
		return nil, fmt.Errorf("this dptrain finds epsilon %v for the described run, and the statement has %v", g.Epsilon, p.Epsilon)
	}
	return event, nil
}

// common returns the number that all counts equal, or 0.
func common(counts []int) int {
	for _, c := range counts {
		if c != counts[0] {
			return 0
		}
	}
	return counts[0]
}

// value returns +Inf where there is no bound: a curve then has a gap.
func (p point) value() float64 {
	o := accountant.Options{Mode: p.mode}
	if p.delta {
		g, err := accountant.Delta(p.event, p.at, o)
		if err != nil {
			return math.Inf(1)
		}
		return g.Delta
	}
	g, err := accountant.Epsilon(p.event, p.at, o)
	if err != nil {
		return math.Inf(1)
	}
	return g.Epsilon
}
