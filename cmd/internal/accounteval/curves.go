package accounteval

import (
	"math"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/internal/renyi"
)

// The functions of this file compute Rényi curves up to an order a that may be above the options' orders, which
// accountant.RDP doesn't do. For any a, tuning uses the options' orders for deltaHat and convexification.

// curve returns the curve of a base: an event without tuning, whose curve doesn't depend on the options' orders.
func (p *params) curve(base accountant.Event, a int) renyi.Curve {
	o := p.options
	o.Orders.High = max(o.Orders.High, a)
	c, err := accountant.RDP(base, o)
	if err != nil && p.err == nil {
		p.err = err
	}
	return renyi.Curve(c)
}

// deltaHat returns the deltas of a base for the tuning theorem: for a grid the largest of its members' deltas.
func (p *params) deltaHat(base accountant.Event, a int) []float64 {
	grid, ok := base.(accountant.MaxOver)
	if !ok {
		return p.curve(base, a).DeltaHat(renyi.Orders(p.options.Orders), p.tight())
	}
	var hat []float64
	for i, e := range grid.Events {
		member := p.deltaHat(e, a)
		if i == 0 {
			hat = member
		}
		for k, d := range member {
			hat[k] = math.Max(hat[k], d)
		}
	}
	return hat
}

func (p *params) tight() bool { return p.options.Mode != accountant.Paper }

// tuned returns the curve of the best of K ~ Poisson(mu) runs of a base.
func (p *params) tuned(base accountant.Event, mu float64, a int) renyi.Curve {
	return p.convexified(renyi.PoissonTuned(p.curve(base, a), p.deltaHat(base, a), mu))
}

func (p *params) convexified(tuned renyi.Curve) renyi.Curve {
	if p.tight() {
		return tuned.Convexified(renyi.Orders(p.options.Orders))
	}
	return tuned
}

func (p *params) variant1(tune, base renyi.Curve, q float64) renyi.Curve {
	return renyi.Subset(tune, base, q, p.tight())
}

func (p *params) variant2(tune, base renyi.Curve, q float64) renyi.Curve {
	c := renyi.Sum(renyi.NewCurve(len(base)-1), renyi.Sampled(tune, q, p.tight()))
	return renyi.Sum(c, base)
}

func (p *params) rdp(base accountant.Event, a int) compute {
	return p.at(a, func() renyi.Curve { return p.curve(base, a) })
}

func (p *params) variantRDP(of func(tune, base renyi.Curve, q float64) renyi.Curve) compute {
	q, mu, base, a := p.probability("q"), p.positive("mu"), p.base(), p.order()
	return p.at(a, func() renyi.Curve { return of(p.tuned(base, mu, a), p.curve(base, a), q) })
}

// at gives a curve's value at an order.
func (p *params) at(a int, curve func() renyi.Curve) compute {
	return func() (float64, error) { return curve()[a], nil }
}
