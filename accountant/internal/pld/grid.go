package pld

import "math"

// A Grid is shared by all pairs of one event: losses are multiples of its step, and masses below its tail get no loss
// of their own.
type Grid struct {
	step float64
	// logTail is the logarithm of the mass that a window of losses may leave out. The mass left out counts at infinity.
	logTail float64
}

// DeepestTail is the smallest logarithm of a tail. Masses of two such tails still multiply to a normal float64.
const DeepestTail = -300

// NewGrid returns a grid of the given step, for deltas far above tail.
func NewGrid(step, tail float64) Grid {
	return Grid{step, math.Max(DeepestTail, math.Log(tail))}
}

// tail is the mass that a window of losses may leave out.
func (g Grid) tail() float64 { return math.Exp(g.logTail) }

// faint is a mass that counts little in a delta for which the tail is negligible.
func (g Grid) faint() float64 { return math.Exp(g.logTail + 9) }

// by returns a grid of the given step with g's tail.
func (g Grid) by(step float64) Grid { return Grid{step, g.logTail} }

// reach returns how many standard deviations of a step's outputs to follow, so that count steps together leave out no
// more than a tail.
func (g Grid) reach(count int) float64 { return math.Sqrt(2 * (math.Log(float64(count)) - g.logTail)) }
