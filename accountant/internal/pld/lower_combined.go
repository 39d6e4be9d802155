package pld

import (
	"math"

	"github.com/dptrain/dptrain/internal/float"
)

// An outcome has a loss and the mass of P there.
type outcome struct{ loss, mass float64 }

// gathered returns outcomes as cells of a grid with at most the given number of points.
func gathered(outcomes []outcome, points, logTail float64) *lossCells {
	low, high := math.Inf(1), math.Inf(-1)
	sum, mean, square := 0.0, 0.0, 0.0
	for _, o := range outcomes {
		if o.mass > 0 {
			low, high = math.Min(low, o.loss), math.Max(high, o.loss)
			sum, mean, square = sum+o.mass, mean+o.mass*o.loss, square+o.mass*o.loss*o.loss
		}
	}
	deviation := math.Sqrt(math.Max(0, square/sum-mean/sum*mean/sum))
	c := &lossCells{Grid: Grid{math.Max(deviation/200, (high-low)/points), logTail}, base: low, slack: 0x1p-40}
	if !(c.step > 0) {
		c.step = 1
	}
	n := int(math.Ceil((high-low)/c.step)) + 3
	for range n {
		c.add(0, 0, 0, 0)
	}
	for _, o := range outcomes {
		if o.mass == 0 {
			continue
		}
		i := int((o.loss - low) / c.step)
		error := 0x1p-48 * (math.Abs(o.loss) + math.Abs(low) + c.step)
		x := o.loss - (low + float64(i)*c.step) // above point i
		c.mass[i+1] += o.mass * (1 - 0x1p-40)
		c.up[i+1] += o.mass * math.Max(0, -math.Expm1(error-x))
		c.down[i+1] += o.mass * math.Max(0, math.Expm1(c.step-x+error))
	}
	return c
}

func (s *side) outcomes() []outcome {
	out := make([]outcome, len(s.mass))
	for i, m := range s.mass {
		out[i] = outcome{s.loss(i) - s.lossError(), m}
	}
	return out
}

// gatheredPoints is the number of grid points of a combination of bounds.
const gatheredPoints = 1 << 15

// LowerUnion bounds a draw of one of several mechanisms with public probabilities, where the outcome names the
// mechanism drawn: the divergence is the mean of their divergences. The probabilities' sum is at most 1.
func LowerUnion(probabilities []float64, all []*Lower) (*Lower, error) {
	combined := func(of func(*Lower) *side) (*side, error) {
		var outcomes []outcome
		logTail := of(all[0]).logTail
		for i, d := range all {
			for _, o := range of(d).outcomes() {
				outcomes = append(outcomes, outcome{o.loss, o.mass * probabilities[i] * (1 - 0x1p-50)})
			}
		}
		return gathered(outcomes, gatheredPoints, logTail).side(1)
	}
	removal, err := combined(func(d *Lower) *side { return d.removal })
	if err != nil {
		return nil, err
	}
	addition, err := combined(func(d *Lower) *side { return d.addition })
	return &Lower{removal, addition}, err
}

// LowerSampled bounds a mechanism on a Poisson sample of the given rate. With the sample the law is (1-rate) Q + rate
// P.
func LowerSampled(d *Lower, rate float64) (*Lower, error) {
	const most, restSlack = 8000, 2 * restError / leastRest
	sampled := func(s, opposite *side, mirror bool) (*side, error) {
		p, q, rest := s.lowLaw(opposite, most, leastRest)
		outcomes := make([]outcome, len(p))
		for i, p := range p {
			l, down := math.Max(-LargestLoss, float.Log(p/q[i])-0x1p-46), 1-0x1p-40
			if i == rest {
				down -= restSlack
			}
			if mirror {
				l = -sampledLoss(rate, -l)
				outcomes[i] = outcome{l - 0x1p-48*(1+math.Abs(l)), p * down}
			} else {
				l = sampledLoss(rate, l)
				l -= 0x1p-48 * (1 + math.Abs(l))
				outcomes[i] = outcome{l, q[i] * math.Exp(l) * down}
			}
		}
		return gathered(outcomes, gatheredPoints, s.logTail).side(1)
	}
	removal, err := sampled(d.removal, d.addition, false)
	if err != nil {
		return nil, err
	}
	addition, err := sampled(d.addition, d.removal, true)
	return &Lower{removal, addition}, err
}

// LowerComposed bounds two mechanisms, one after the other, whose outcomes are independent.
func LowerComposed(d, e *Lower) (*Lower, error) {
	const most = 2000 // outcomes of each
	combined := func(x, y *side) (*side, error) {
		a, b := x.coarse(most), y.coarse(most)
		outcomes := make([]outcome, 0, len(a)*len(b))
		for _, v := range a {
			for _, w := range b {
				outcomes = append(outcomes, outcome{v.loss + w.loss, v.mass * w.mass * (1 - 0x1p-50)})
			}
		}
		return gathered(outcomes, gatheredPoints, math.Max(x.logTail, y.logTail)).side(1)
	}
	removal, err := combined(d.removal, e.removal)
	if err != nil {
		return nil, err
	}
	addition, err := combined(d.addition, e.addition)
	return &Lower{removal, addition}, err
}

// coarse returns the side's outcomes, merged to at most the given number.
func (s *side) coarse(most int) []outcome {
	out := s.outcomes()
	if len(out) <= most {
		return out
	}
	c := gathered(out, float64(most-3), s.logTail)
	merged, _ := c.side(1)
	return merged.outcomes()
}

// Times bounds count runs, one after another, whose outcomes are independent.
func (d *Lower) Times(count int) (total *Lower, err error) {
	total = LowerNeutral()
	for power, first := d, true; count > 0; count /= 2 {
		if count%2 == 1 {
			if first {
				total, first = power, false
			} else if total, err = LowerComposed(total, power); err != nil {
				return nil, err
			}
		}
		if count > 1 {
			if power, err = LowerComposed(power, power); err != nil {
				return nil, err
			}
		}
	}
	return total, nil
}
