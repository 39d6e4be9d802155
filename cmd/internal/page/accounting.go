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
	Missing string // the reason why there is no curve, or ""
	ByDelta []Cost // epsilon over delta
}

// Cost is one point of the curves of all modes.
type Cost struct {
	Delta   float64
	Epsilon [3]float64 // by the modes in modes; +Inf where a mode has no bound, so that its curve has a gap
}

// modes are the modes of accounting, from the smallest bound to the largest.
var modes = [3]accountant.Mode{accountant.Best, accountant.Tight, accountant.Paper}

// The deltas of the curves, as powers of ten.
const (
	smallestDelta = -10
	largestDelta  = -2
)

// Account computes the accounting curves of a released run, which takes seconds. It calls progress, which may be nil,
// from one goroutine at a time. If the run's event is unknown, or doesn't have the stated epsilon, the result says so
// and has no curves. The only error is the context's.
func Account(ctx context.Context, r Run, progress func(done, total int)) (Accounting, error) {
	event, err := r.event()
	if err != nil {
		return Accounting{Missing: err.Error()}, ctx.Err()
	}
	a := Accounting{}
	for power := min(smallestDelta, int(math.Floor(math.Log10(r.Privacy.Delta)))-1); power <= largestDelta; power++ {
		a.ByDelta = append(a.ByDelta, Cost{Delta: parsed("1", power)})
		if power < largestDelta {
			a.ByDelta = append(a.ByDelta, Cost{Delta: parsed("3", power)})
		}
	}
	return a, figure.Compute(ctx, len(modes)*len(a.ByDelta), func(i int) error {
		cost, m := &a.ByDelta[i/len(modes)], i%len(modes)
		g, err := accountant.Epsilon(event, cost.Delta, accountant.Options{Mode: modes[m]})
		if err != nil {
			g.Epsilon = math.Inf(1)
		}
		cost.Epsilon[m] = g.Epsilon
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
