package paper

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// confidence is the level of all intervals.
const confidence = 0.95

// sample has the values of one quantity in several runs.
type sample []float64

// mean returns the mean, NaN for an empty sample.
func (s sample) mean() float64 {
	if len(s) == 0 {
		return math.NaN()
	}
	return stat.Mean(s, nil)
}

// variance returns the unbiased variance, NaN for less than two values. It is exactly 0 for equal values, although
// their mean may be rounded.
func (s sample) variance() float64 {
	if len(s) < 2 {
		return math.NaN()
	}
	if s.equal() {
		return 0
	}
	return stat.Variance(s, nil)
}

// standardError returns the standard error of the mean, NaN for less than two values.
func (s sample) standardError() float64 { return math.Sqrt(s.variance() / float64(len(s))) }

// equal reports whether all values are the same.
func (s sample) equal() bool {
	return !slices.ContainsFunc(s, func(v float64) bool { return v != s[0] })
}

// Interval is a confidence interval of 95 percent. If there is none, Missing says why.
type Interval struct {
	Low, High float64
	Missing   string
}

// Reasons for a missing interval.
const (
	oneRepetition = "one repetition: no interval"
	allEqual      = "all repetitions are equal: no interval"
	unbounded     = "the denominator may be 0: no interval"
)

// quantile returns Student's t for a two-sided interval.
func quantile(degrees float64) float64 {
	return distuv.StudentsT{Sigma: 1, Nu: degrees}.Quantile((1 + confidence) / 2)
}

// satterthwaite returns the degrees of freedom of the sum of two estimated variances of means.
func satterthwaite(va float64, n int, vb float64, m int) float64 {
	return (va + vb) * (va + vb) / (va*va/float64(n-1) + vb*vb/float64(m-1))
}

// pair has the values of a quantity by two methods.
type pair [2]sample

// average returns the mean of the differences of some pairs' means, its interval, and the probability of a statistic as
// small if the mean is 0. Pairs weigh the same, and all samples are independent. For one pair it is Welch's interval:
// variances may differ, and the degrees of freedom are Satterthwaite's.
//
// B. L. Welch, "The generalization of 'Student's' problem when several different population variances are involved",
// Biometrika 34 (1947).
func average(pairs []pair) (float64, Interval, float64) {
	d, variance, squares := 0.0, 0.0, 0.0
	few := false
	for _, p := range pairs {
		d += p[0].mean() - p[1].mean()
		for _, s := range p {
			v := s.variance() / float64(len(s))
			variance += v
			squares += v * v / float64(len(s)-1)
			few = few || len(s) < 2
		}
	}
	n := float64(len(pairs))
	switch {
	case few || len(pairs) == 0:
		return d / n, Interval{Missing: oneRepetition}, 0
	case variance == 0:
		return d / n, Interval{Missing: allEqual}, 0
	}
	degrees, deviation := variance*variance/squares, math.Sqrt(variance)
	half := quantile(degrees) * deviation
	return d / n, Interval{Low: (d - half) / n, High: (d + half) / n}, distuv.StudentsT{Sigma: 1, Nu: degrees}.CDF(d / deviation)
}

// tail returns the one-sided p value of a - r b: the probability of a t statistic as small, if the mean is 0. estimate
// is the ratio at which [ratio] takes the degrees of freedom, so the tail is 2.5 percent at the ends of the interval.
// Both samples have an interval.
func tail(a, b sample, r, estimate float64) float64 {
	va, vb := a.variance()/float64(len(a)), b.variance()/float64(len(b))
	degrees := satterthwaite(va, len(a), estimate*estimate*vb, len(b))
	return distuv.StudentsT{Sigma: 1, Nu: degrees}.CDF((a.mean() - r*b.mean()) / math.Sqrt(va+r*r*vb))
}

// ratio returns the ratio of two means of positive numbers and Fieller's interval, cut off at 0: all r for which a - r
// b may have mean 0 by a t test. Its degrees of freedom are Satterthwaite's for a - r b at the estimated ratio, since
// variances may differ.
//
// The test's statistic is (A - r B)/sqrt(va + r² vb) with the means A and B and their variances va and vb, so the
// interval's ends are the roots of r² (B² - t² vb) - 2 r A B + (A² - t² va). It is an interval if and only if the first
// coefficient is positive, that is, if B differs from 0 by the same test.
//
// E. C. Fieller, "Some problems in interval estimation", Journal of the Royal Statistical Society B 16 (1954). The
// degrees of freedom: A. C. Tamhane and B. R. Logan, "Finding the maximum safe dose level for heteroscedastic data",
// Journal of Biopharmaceutical Statistics 14 (2004).
func ratio(a, b sample) (float64, Interval) {
	meanA, meanB := a.mean(), b.mean()
	r := meanA / meanB
	if len(a) < 2 || len(b) < 2 {
		return r, Interval{Missing: oneRepetition}
	}
	va, vb := a.variance()/float64(len(a)), b.variance()/float64(len(b))
	if va+vb == 0 || va+r*r*vb == 0 { // also if a is always 0
		return r, Interval{Missing: allEqual}
	}
	t := quantile(satterthwaite(va, len(a), r*r*vb, len(b)))
	c2, c0 := meanB*meanB-t*t*vb, meanA*meanA-t*t*va
	if !(c2 > 0) {
		return r, Interval{Missing: unbounded}
	}
	root := math.Sqrt(math.Max(0, meanA*meanB*meanA*meanB-c2*c0))
	return r, Interval{Low: math.Max(0, (meanA*meanB-root)/c2), High: (meanA*meanB + root) / c2}
}
