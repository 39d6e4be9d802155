package pld

import (
	"errors"
	"math"
)

// A Lower bounds a mechanism's divergences from below, for [NewWorstOrder]: in each direction by a side's R, which is
// at most the divergence here, at every real epsilon. It is made from the laws of one concrete mechanism: losses are
// lowered or averaged, and lost masses don't count.
type Lower struct{ removal, addition *side }

// LowerNeutral returns the bound of a mechanism that ignores its data.
func LowerNeutral() *Lower {
	g := Grid{1, DeepestTail}
	return &Lower{neutralSide(g), neutralSide(g)}
}

// DeltaAt bounds the larger divergence from below.
func (d *Lower) DeltaAt(epsilon float64) float64 {
	epsilon = math.Min(epsilon, LargestLoss)
	return math.Max(math.Max(d.removal.below(epsilon), d.addition.below(epsilon)), -math.Expm1(epsilon)*(1-rounding))
}

// below is at most R(epsilon), which at may exceed.
func (s *side) below(epsilon float64) float64 {
	return s.at(epsilon+math.Abs(epsilon)*0x1p-48+s.lossError()) * (1 - rounding)
}

// lossError bounds the rounding of a loss.
func (s *side) lossError() float64 {
	return 0x1p-50 * math.Max(math.Abs(s.loss(0)), math.Abs(s.loss(len(s.mass)-1)))
}

// lowerPoints are the numbers of grid points in a standard deviation of one step's losses that are tried. Averaging
// losses over n points lowers their variance by up to a relative 1/(6 n^2).
var lowerPoints = []float64{64, 32, 16, 8, 4, 2, 1}

// LowerRows bounds count runs of a Gaussian mechanism with the given sampling rate and noise multiplier, for a unit
// with several rows, from below. All gradients point in one direction: P = sum of w_k N(k, noise^2), with k ~
// Binomial(rows, rate), against Q = N(0, noise^2).
func LowerRows(tail, rate, noise float64, rows, count int) (*Lower, error) {
	if rate < leastRate || count == 0 {
		return LowerNeutral(), nil
	}
	if noise == 0 {
		return nil, ErrTooWide
	}
	if rate == 1 { // count Gaussians are one with less noise
		noise *= (1 + 0x1p-50) / math.Sqrt(float64(count)) // rounded up
		noise, rows, count = noise/float64(rows)*(1+0x1p-50), 1, 1
	} else if rate > mostRate { // sampling less costs less
		rate = mostRate
	}
	deviation := math.Sqrt(RowsVariance(rate, noise, rows))
	if count == 1 {
		deviation /= 4
	}
	if !(deviation > 0) {
		return nil, ErrTooWide
	}
	var err error
	for _, points := range lowerPoints {
		var d *Lower
		if d, err = lowerSteps(rate, noise, rows, count, NewGrid(deviation/points, tail)); !errors.Is(err, ErrTooFine) {
			return d, err
		}
	}
	return nil, err
}

func lowerSteps(rate, noise float64, rows, count int, g Grid) (*Lower, error) {
	c, err := stepCells(rate, noise, rows, g, g.reach(count))
	if err != nil {
		return nil, err
	}
	removal, err := c.side(count)
	if err != nil {
		return nil, err
	}
	addition, err := c.mirrored().side(count)
	return &Lower{removal, addition}, err
}
