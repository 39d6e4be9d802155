package paper

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// sample has the values of one quantity in several runs.
type sample []float64

// mean returns the mean, NaN for an empty sample.
func (s sample) mean() float64 {
	if len(s) == 0 {
		return math.NaN()
	}
	return stat.Mean(s, nil)
}

// half returns half of the mean's confidence interval of 95 percent, by Student's t: NaN for less than two values, and
// exactly 0 for equal ones, although their mean may be rounded.
func (s sample) half() float64 {
	if len(s) < 2 {
		return math.NaN()
	}
	if slices.Min(s) == slices.Max(s) {
		return 0
	}
	t := distuv.StudentsT{Sigma: 1, Nu: float64(len(s) - 1)}.Quantile(0.975)
	return t * stat.StdErr(stat.StdDev(s, nil), float64(len(s)))
}
