package accountant

import (
	"errors"
	"fmt"
	"math"
	"sort"
)

// Attained returns an epsilon below which no accounting can go: at delta, a plan costs this much for some mechanism with
// the privacy losses of its training runs and some order of the trials' scores. The order is the best of those that grow an
// interval of losses, found for the plan as a whole, with every outcome of the final run, and its divergence is evaluated
// as it is. What lies between it and mode Best is all that a better proof could gain. Losses are those of mode Best's grid,
// which are above the runs' own by about 1e-5 of epsilon.
//
// It is known for single training runs, Baseline, Variant1 and Variant2; for other events the error wraps ErrInvalid.
// Candidates of different costs (MaxOver) count as one run with the largest divergences of all.
func Attained(e Event, delta float64) (epsilon float64, err error) {
	if err := checkDelta(delta); err != nil {
		return 0, err
	}
	if err := Validate(e); err != nil {
		return 0, err
	}
	if free(e) {
		return 0, nil
	}
	if delta == 0 {
		return math.Inf(1), nil
	}
	for step := math.Max(finestStep, gridStep(e)); ; step *= 2 {
		p, err := newProfiler(step).attained(e)
		if errors.Is(err, errTooFine) && 2*step < largestLoss {
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("find the worst order: %w", err)
		}
		epsilon, _ = bracket(p.deltaAt, delta)
		return epsilon, nil
	}
}

var errNoOrder = fmt.Errorf("%w event for a lower bound: not a training run, Baseline, Variant1 or Variant2", ErrInvalid)

// attained takes events apart as Baseline, Variant1 and Variant2 put them together.
func (r *profiler) attained(e Event) (profile, error) {
	switch e := e.(type) {
	case Gaussian, PoissonSampled, SelfComposed:
		if isRun(e) {
			d, err := r.pair(e)
			if err != nil {
				return nil, err
			}
			return &pair{d.removal.finite(), d.addition.finite()}, nil
		}
	case SelectBest:
		if alwaysOnce(e.Repetitions) {
			return r.attained(e.Event)
		}
		return r.worstOrder(e, 1, Composed{}, false)
	case SubsetThenRest:
		if best, ok := e.Tune.(SelectBest); ok {
			return r.worstOrder(best, e.SamplingProbability, e.Base, true)
		}
	case Composed:
		if len(e.Events) == 2 {
			if sampled, ok := e.Events[0].(PoissonSampled); ok {
				if best, ok := sampled.Event.(SelectBest); ok {
					return r.worstOrder(best, sampled.SamplingProbability, e.Events[1], false)
				}
			}
		}
	}
	return nil, errNoOrder
}

// isRun reports whether e is a training run, or a choice among several.
func isRun(e Event) bool {
	switch e := e.(type) {
	case Gaussian:
		return true
	case PoissonSampled:
		return isRun(e.Event)
	case SelfComposed:
		return isRun(e.Event)
	case Composed:
		return every(e.Events, isRun)
	case MaxOver:
		return every(e.Events, isRun)
	}
	return false
}

// A worstOrder is the plan of a tuning run and a final run as an order sees it. With the sample an outcome of both has the
// law u s1 + v s0, and without it w s0, where s1 and s0 are the laws of the tuning's outcome when its data have the sample
// and when they don't, and u, v and w belong to the final run's outcome.
type worstOrder struct {
	u, v, w []float64
	none    float64 // P(K=0)
	// up[j][i] is what cell j adds to s1 and s0 in state (i, j), and down[j][i] what cell i-1 adds there.
	up, down [][]selected
}

type selected struct{ s1, s0 float64 }

// worstOrder is for a tuning run on a sample of the data of rate q, before a final run on the rest of them or on all.
func (r *profiler) worstOrder(tune SelectBest, q float64, final Event, onRest bool) (*worstOrder, error) {
	if !isRun(tune.Event) || !isRun(final) {
		return nil, errNoOrder
	}
	if tooMany(tune.Repetitions) {
		return nil, errTooWide
	}
	trial, err := r.pair(tune.Event)
	if err != nil {
		return nil, err
	}
	base, err := r.pair(final)
	if err != nil {
		return nil, err
	}
	o := &worstOrder{none: tune.Repetitions.none()}
	finalP, finalQ := base.removal.law(math.MaxInt)
	for k, p := range finalP {
		if onRest {
			o.u = append(o.u, q*finalQ[k])
		} else {
			o.u = append(o.u, q*p)
		}
		o.v, o.w = append(o.v, (1-q)*p), append(o.w, finalQ[k])
	}

	p, s := trial.removal.law(cellCountAlone)
	p, s = cutDeep(p, s, 0, tune.Repetitions, cellCountAlone)
	n := len(p)
	out := outsideOf(p, s, 0)
	added := func(i, j, cell int) selected { // to reach (i, j)
		k := tune.Repetitions
		return selected{slopesAt(k, out.belowP[i]+out.aboveP[j]).rise(k, p[cell]), slopesAt(k, out.belowQ[i]+out.aboveQ[j]).rise(k, s[cell])}
	}
	for j := range n + 1 {
		var up, down []selected
		for i := range j + 1 {
			if j < n {
				up = append(up, added(i, j+1, j))
			}
			if i > 0 {
				down = append(down, added(i-1, j, i-1))
			} else {
				down = append(down, selected{})
			}
		}
		o.up, o.down = append(o.up, up), append(o.down, down)
	}
	return o, nil
}

// finite leaves out the mass at infinity, which stands for the tails of a training run beyond the grid.
func (s *side) finite() *side { return newSide(s.step, s.low, s.mass, 0) }

// law returns two distributions by ascending loss with at most about count outcomes. Each merges neighbours of the
// side's, as post-processing may. What the side's masses have more than a sum of 1, for rounding, is taken from all of
// them alike, and so is the mass at infinity (see finite); what only Q has counts as rounding, too, and is nothing in a
// training run.
func (s *side) law(count int) (p, q []float64) {
	at := s.cellLosses(count)
	n := len(at)
	p, q = make([]float64, n), make([]float64, n)
	k := 0
	for i, m := range s.opposite() {
		if k+1 < n && i >= at[k+1] {
			k++
		}
		p[k] += s.mass[i]
		q[k] += m
	}
	for _, x := range [][]float64{p, q} {
		total := 0.0
		for _, m := range x {
			total += m
		}
		for k := range x {
			x[k] /= total
		}
	}
	return p, q
}

func (o *worstOrder) deltaAt(epsilon float64) float64 {
	x := math.Exp(math.Min(epsilon, largestLoss))
	var with, without hinges
	for l, w := range o.w {
		with.add(o.u[l], o.v[l]-x*w)
		without.add(-x*o.u[l], w-x*o.v[l])
	}
	return math.Max(o.best(with.sorted()), o.best(without.sorted()))
}

// best is the largest divergence, a sum of h over cells, of an order that grows an interval.
func (o *worstOrder) best(h *sortedHinges) float64 {
	n := len(o.up) - 1
	value := make([]float64, n+1) // of state (i, j)
	best := 0.0
	for j := n; j >= 0; j-- {
		for i := range j + 1 {
			v := 0.0
			if j < n {
				v = value[i] + h.at(o.up[j][i])
			}
			if i > 0 {
				if w := value[i-1] + h.at(o.down[j][i]); w > v || j == n {
					v = w
				}
			}
			value[i] = v
		}
		best = math.Max(best, value[j])
	}
	return best + h.at(selected{o.none, o.none})
}

// hinges are a function of (s1, s0), the sum of (a s1 + b s0)_+ over all (a, b). The a's have one sign.
type hinges []struct{ a, b, ratio float64 }

func (h *hinges) add(a, b float64) {
	if a != 0 || b > 0 {
		*h = append(*h, struct{ a, b, ratio float64 }{a, b, -b / a})
	}
}

// sortedHinges has the hinges' sums by the ratio s1/s0 at which each begins to count, or ceases to.
type sortedHinges struct {
	ratio    []float64
	sum      []selected // what counts between ratio[k-1] and ratio[k]
	constant float64    // of s0
}

func (h hinges) sorted() *sortedHinges {
	out := &sortedHinges{}
	sort.Slice(h, func(i, j int) bool { return h[i].ratio < h[j].ratio })
	for _, x := range h {
		if x.a == 0 {
			out.constant += x.b
		} else {
			out.ratio = append(out.ratio, x.ratio)
		}
	}
	// Sums of terms that count, and nothing subtracted: large ones would leave their rounding.
	out.sum = make([]selected, len(out.ratio)+1)
	k := 0
	for _, x := range h {
		if x.a != 0 {
			k++
			out.sum[k] = out.sum[k-1]
		}
		if x.a > 0 {
			out.sum[k] = selected{out.sum[k].s1 + x.a, out.sum[k].s0 + x.b}
		}
	}
	var above selected
	for l := len(h) - 1; l >= 0; l-- {
		if x := h[l]; x.a < 0 {
			k--
			above = selected{above.s1 + x.a, above.s0 + x.b}
			out.sum[k] = above
		} else if x.a > 0 {
			k--
		}
	}
	return out
}

func (h *sortedHinges) at(x selected) float64 {
	low, high := 0, len(h.ratio)
	for low < high {
		if mid := int(uint(low+high) / 2); h.ratio[mid]*x.s0 < x.s1 {
			low = mid + 1
		} else {
			high = mid
		}
	}
	k := h.sum[low]
	return math.Max(0, k.s1*x.s1+k.s0*x.s0) + h.constant*x.s0
}
