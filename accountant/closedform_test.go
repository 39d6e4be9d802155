package accountant_test

import (
	"fmt"
	"math"
	"math/big"
	"sync"
	"testing"

	"github.com/dptrain/dptrain/accountant"
)

// The Gaussian mechanism and one sampled step of DP-SGD have closed forms. This file evaluates them with a few hundred
// bits, from series and continued fractions written here. It checks that no mode is below them, without tolerance,
// since the closed forms are never rounded to a float64. It can't see errors of compositions of sampled steps
// (inversion_test.go) or of events without a closed form.

// precision is the number of bits that a result keeps after cancellation.
const precision = 256

func real(x float64) *big.Float        { return new(big.Float).SetPrec(precision).SetFloat64(x) }
func add(x, y *big.Float) *big.Float   { return new(big.Float).Add(x, y) }
func sub(x, y *big.Float) *big.Float   { return new(big.Float).Sub(x, y) }
func mul(x, y *big.Float) *big.Float   { return new(big.Float).Mul(x, y) }
func quo(x, y *big.Float) *big.Float   { return new(big.Float).Quo(x, y) }
func sqrt(x *big.Float) *big.Float     { return new(big.Float).Sqrt(x) }
func neg(x *big.Float) *big.Float      { return new(big.Float).Neg(x) }
func integer(n int, p uint) *big.Float { return new(big.Float).SetPrec(p).SetInt64(int64(n)) }
func scaled(x *big.Float, exponent int) *big.Float {
	return new(big.Float).SetMantExp(x, exponent)
}

// widened is x with at least p bits.
func widened(x *big.Float, p uint) *big.Float {
	return new(big.Float).SetPrec(max(p, x.Prec())).Set(x)
}

// negligible reports whether x is below 2^-p of y.
func negligible(x, y *big.Float, p uint) bool {
	return x.Sign() == 0 || x.MantExp(nil) < y.MantExp(nil)-int(p)
}

// exp sums the series of e^(x/2^k) and squares k times. Below e^-2^30 it is 0.
func exp(x *big.Float) *big.Float {
	if x.Cmp(real(-1<<30)) < 0 {
		return real(0)
	}
	p := x.Prec()
	k := max(0, x.MantExp(nil)+8)
	y := scaled(widened(x, p+uint(k)+32), -k)
	one := integer(1, y.Prec())
	sum, term := one, one
	for n := 1; !negligible(term, sum, y.Prec()); n++ {
		term = quo(mul(term, y), integer(n, y.Prec()))
		sum = add(sum, term)
	}
	for range k {
		sum = mul(sum, sum)
	}
	return sum.SetPrec(p)
}

// log1p inverts exp by Halley's method; x > -1.
func log1p(x *big.Float) *big.Float {
	p := x.Prec() + uint(max(0, -x.MantExp(nil))) // 1 + x keeps the digits of x
	z := add(integer(1, p), widened(x, p))
	mantissa := new(big.Float)
	exponent := z.MantExp(mantissa)
	m, _ := mantissa.Float64()
	y := widened(real(math.Log(m)+float64(exponent)*math.Ln2), p)
	if exponent <= 1 && exponent >= 0 {
		small, _ := x.Float64()
		y = widened(real(math.Log1p(small)), p)
	}
	for bits := uint(32); bits < 2*p; bits *= 3 { // each step triples the digits
		e := exp(y)
		y = add(y, scaled(quo(sub(z, e), add(z, e)), 1))
	}
	return y
}

// twoPi is by Gauss and Legendre.
var twoPi = func() func(p uint) *big.Float {
	var lock sync.Mutex
	known := map[uint]*big.Float{}
	return func(p uint) *big.Float {
		lock.Lock()
		defer lock.Unlock()
		if known[p] == nil {
			one := integer(1, p+32)
			a, b, t := one, sqrt(scaled(one, -1)), scaled(one, -2)
			for n := range 16 { // doubles the digits
				next := scaled(add(a, b), -1)
				b = sqrt(mul(a, b))
				d := sub(a, next)
				t = sub(t, scaled(mul(d, d), n))
				a = next
			}
			known[p] = scaled(quo(mul(a, a), t), 1).SetPrec(p)
		}
		return known[p]
	}
}()

func density(x *big.Float) *big.Float {
	return quo(exp(neg(scaled(mul(x, x), -1))), sqrt(twoPi(x.Prec())))
}

// tail is the probability that a standard normal variable is above x.
func tail(x *big.Float) *big.Float {
	if x.Sign() < 0 {
		return sub(integer(1, x.Prec()), tail(neg(x)))
	}
	if x.Cmp(real(12)) < 0 {
		return tailSeries(x)
	}
	return tailFraction(x)
}

// tailSeries is 1/2 - density(x) (x + x^3/3 + x^5/(3·5) + ...), of which at most x^2 bits cancel.
func tailSeries(x *big.Float) *big.Float {
	size, _ := x.Float64()
	y := widened(x, x.Prec()+uint(size*size)+64)
	sum, term := y, y
	for n := 3; !negligible(term, sum, y.Prec()); n += 2 {
		term = quo(mul(term, mul(y, y)), integer(n, y.Prec()))
		sum = add(sum, term)
	}
	return sub(scaled(integer(1, y.Prec()), -1), mul(density(y), sum)).SetPrec(x.Prec())
}

// tailFraction is density(x)/(x + 1/(x + 2/(x + 3/...))), Laplace's fraction, of which successive convergents lie on
// both sides of the value: it goes on until they agree.
func tailFraction(x *big.Float) *big.Float {
	p := x.Prec() + 64
	x = widened(x, p)
	above, below := integer(1, p), x // the convergent is above/below
	lastAbove, lastBelow := integer(0, p), integer(1, p)
	for n := 1; ; n++ {
		k := integer(n, p)
		above, lastAbove = add(mul(x, above), mul(k, lastAbove)), above
		below, lastBelow = add(mul(x, below), mul(k, lastBelow)), below
		value, last := quo(above, below), quo(lastAbove, lastBelow)
		if negligible(sub(value, last), value, p-64) {
			return mul(density(x), value).SetPrec(p - 64)
		}
	}
}

// gaussianDelta is the divergence of N(mu, 1) from N(0, 1), in either direction, at epsilon: tail(epsilon/mu - mu/2) -
// e^epsilon tail(epsilon/mu + mu/2), for mu > 0. Above 1 - e^-800 it may be 1: no float64 lies between. Below e^-2^30,
// or if epsilon is above 2^30, it may be 0.
func gaussianDelta(mu, epsilon *big.Float) *big.Float {
	p := max(mu.Prec(), epsilon.Prec()) + 64 + 2*uint(max(0, -mu.MantExp(nil)))
	mu, epsilon = widened(mu, p), widened(epsilon, p)
	ratio, half := quo(epsilon, mu), scaled(mu, -1)
	a, b := sub(ratio, half), add(ratio, half)
	switch {
	case a.Cmp(real(-40)) < 0:
		return real(1)
	case a.Cmp(real(1<<16)) > 0, epsilon.Cmp(real(1<<30)) > 0:
		return real(0)
	}
	return sub(tail(a), mul(exp(epsilon), tail(b)))
}

// sampledDelta is the divergence of (1-g) Q + g P from Q at epsilon >= 0, where delta is the divergence of P from Q: it
// is the larger of the two directions.
func sampledDelta(g float64, epsilon *big.Float, delta func(epsilon *big.Float) *big.Float) *big.Float {
	switch g {
	case 0:
		return real(0)
	case 1:
		return delta(epsilon)
	}
	if epsilon.Cmp(real(1000)) > 0 { // all but e^-1000 of a larger epsilon
		return mul(real(g), delta(add(epsilon, log1p(quo(sub(real(1), real(g)), real(g))))))
	}
	p := precision + uint(max(0, -epsilon.MantExp(nil)))
	level := sub(exp(widened(epsilon, p)), integer(1, p))
	return mul(real(g), delta(log1p(quo(level, real(g)))))
}

// otherSampledDelta is the divergence of Q from (1-g) Q + g P: (1 - c) (1 - e^epsilon' L)_+ with c = (1-g) e^epsilon
// and e^epsilon' = g e^epsilon/(1 - c).
func otherSampledDelta(g float64, epsilon *big.Float, delta func(epsilon *big.Float) *big.Float) *big.Float {
	level := exp(epsilon)
	rest := sub(real(1), mul(sub(real(1), real(g)), level))
	if g == 0 || rest.Sign() <= 0 {
		return real(0)
	}
	return mul(rest, delta(log1p(sub(quo(mul(real(g), level), rest), real(1)))))
}

// perSigma is mu for noises that are composed: the root of the sum of 1/noise^2.
func perSigma(noises ...float64) *big.Float {
	total := real(0)
	for _, s := range noises {
		total = add(total, quo(real(1), mul(real(s), real(s))))
	}
	return sqrt(total)
}

// A truth is an event with its exact delta.
type truth struct {
	name  string
	event accountant.Event
	delta func(epsilon *big.Float) *big.Float
}

func gaussianTruth(name string, e accountant.Event, noises ...float64) truth {
	mu := perSigma(noises...)
	return truth{name, e, func(epsilon *big.Float) *big.Float { return gaussianDelta(mu, epsilon) }}
}

func repeated(s float64, n int) []float64 {
	all := make([]float64, n)
	for i := range all {
		all[i] = s
	}
	return all
}

func gaussians(noises ...float64) []accountant.Event {
	var all []accountant.Event
	for _, s := range noises {
		all = append(all, accountant.Gaussian{NoiseMultiplier: s})
	}
	return all
}

// gaussianTruths are mechanisms that equal one Gaussian.
func gaussianTruths() []truth {
	var all []truth
	for _, s := range []float64{0.05, 0.0707, 0.1116, 0.2, 0.3, 0.5, 0.77, 1, 2, 3.3, 5, 10, 20, 50} {
		name := fmt.Sprintf("Gaussian of noise %v", s)
		all = append(all, gaussianTruth(name, accountant.Gaussian{NoiseMultiplier: s}, s))
	}
	for _, s := range []float64{0.1116, 0.5, 2, 50} {
		g := accountant.Gaussian{NoiseMultiplier: s}
		less := accountant.Gaussian{NoiseMultiplier: 1.5 * s}
		name := fmt.Sprintf(" of noise %v", s)
		all = append(all,
			gaussianTruth("maximum over a Gaussian"+name, maxOver(g), s),
			gaussianTruth("maximum over two"+name, maxOver(less, g), s),
			gaussianTruth("a shard"+name, shards(g), s),
			gaussianTruth("two shards"+name, shards(g, less), s),
		)
	}
	for _, c := range []struct {
		noise float64
		count int
	}{{0.2, 3}, {1, 2}, {1, 100}, {5, 30}, {30, 1000}, {50, 4000}} {
		name := fmt.Sprintf("%d Gaussians of noise %v", c.count, c.noise)
		e := times(c.count, accountant.Gaussian{NoiseMultiplier: c.noise})
		all = append(all,
			gaussianTruth(name, e, repeated(c.noise, c.count)...),
			gaussianTruth("maximum over "+name, maxOver(e), repeated(c.noise, c.count)...),
		)
	}
	for _, noises := range [][]float64{{0.1116, 0.3}, {0.5, 1, 50}, {3, 4, 5}, {1, 1, 1, 1}} {
		all = append(all, gaussianTruth(fmt.Sprintf("Gaussians of noises %v", noises), composed(gaussians(noises...)...), noises...))
	}
	return all
}

// sampledTruths are single sampled steps. At a rate of 1 both directions are the Gaussian's.
func sampledTruths() []truth {
	var all []truth
	for _, c := range [][2]float64{
		{1e-4, 0.5}, {1e-4, 5}, {0.01, 0.2}, {0.01, 1}, {0.01, 50}, {0.3, 0.1}, {0.3, 0.2}, {0.3, 1}, {0.3, 50}, {0.9, 0.2}, {0.9, 5}, {1, 0.2}, {1, 5},
	} {
		g, s := c[0], c[1]
		mu := perSigma(s)
		delta := func(epsilon *big.Float) *big.Float {
			inner := func(epsilon *big.Float) *big.Float { return gaussianDelta(mu, epsilon) }
			with, without := sampledDelta(g, epsilon, inner), otherSampledDelta(g, epsilon, inner)
			if with.Cmp(without) < 0 {
				return without
			}
			return with
		}
		e := accountant.DPSGD(g, s, 1)
		name := fmt.Sprintf("a step of rate %v and noise %v", g, s)
		all = append(all, truth{name, e, delta}, truth{"maximum over " + name, maxOver(e), delta})
	}
	return all
}

var modes = []accountant.Mode{accountant.Paper, accountant.Tight, accountant.Best}

// shown is x with six digits, or as a power of two where six digits take long.
func shown(x *big.Float) string {
	if x.Sign() != 0 && x.MantExp(nil) < -2000 {
		return fmt.Sprintf("2^%d", x.MantExp(nil))
	}
	return x.Text('g', 6)
}

// By how much mode Best may exceed the truth: the grid costs about 1e-4 of epsilon.
const (
	looseEpsilon = 1e-3
	looseDelta   = 2e-2
)

func TestEpsilonAgainstClosedForms(t *testing.T) {
	comparisons := 0
	for _, c := range append(gaussianTruths(), sampledTruths()...) {
		for _, mode := range modes {
			deltas := []float64{1e-2, 1e-5, 1e-9, 1e-14}
			epsilons, err := accountant.Epsilons(c.event, accountant.Options{Mode: mode}, deltas...)
			if err != nil {
				t.Fatal(err)
			}
			for i, delta := range deltas {
				comparisons++
				epsilon := epsilons[i]
				if math.IsInf(epsilon, 1) {
					t.Errorf("%s, mode %s, delta %v: epsilon is infinite", c.name, mode, delta)
					continue
				}
				if exact := c.delta(real(epsilon)); exact.Cmp(real(delta)) > 0 {
					t.Errorf("%s, mode %s: epsilon %v at delta %v, where delta is %.6g", c.name, mode, epsilon, delta, exact)
				}
				if lower := real(epsilon * (1 - looseEpsilon)); mode == accountant.Best && epsilon > 0 && c.delta(lower).Cmp(real(delta)) < 0 {
					t.Errorf("%s, mode %s, delta %v: epsilon %v is high by more than %v of its value", c.name, mode, delta, epsilon, looseEpsilon)
				}
			}
		}
	}
	t.Logf("%d comparisons", comparisons)
}

func TestDeltaAgainstClosedForms(t *testing.T) {
	comparisons := 0
	epsilons := []float64{0, 0.01, 0.1, 1, 5, 20, 50, 100, 200, 300, 500}
	for _, c := range append(gaussianTruths(), sampledTruths()...) {
		var truths []*big.Float
		for _, epsilon := range epsilons {
			truths = append(truths, c.delta(real(epsilon)))
		}
		for _, mode := range modes {
			deltas, err := accountant.Deltas(c.event, accountant.Options{Mode: mode}, epsilons...)
			if err != nil {
				t.Fatal(err)
			}
			for i, epsilon := range epsilons {
				comparisons++
				delta, exact := deltas[i], truths[i]
				if real(delta).Cmp(exact) < 0 || delta == 0 {
					t.Errorf("%s, mode %s: delta %v at epsilon %v, where it is %s", c.name, mode, delta, epsilon, shown(exact))
				}
				limit := mul(exact, real(1+looseDelta))
				if mode == accountant.Best && exact.Cmp(real(1e-14)) > 0 && real(delta).Cmp(limit) > 0 {
					t.Errorf("%s, mode %s: delta %v at epsilon %v, where %.6g is true: high by more than %v of it", c.name, mode, delta, epsilon, exact, looseDelta)
				}
			}
		}
	}
	t.Logf("%d comparisons", comparisons)
}

// TestManyPoints: bounds that are computed once for several points have about the values that the package returns at
// each point, except at deltas far below the one that the bounds are sharp about.
func TestManyPoints(t *testing.T) {
	deltas, epsilons := accountant.Every(2, []float64{0.3, 1e-5, 1e-14}), accountant.Every(2, []float64{0, 1, 30, 2000})
	for _, e := range []accountant.Event{accountant.Gaussian{NoiseMultiplier: 1}, accountant.DPSGD(0.1, 1, 9), accountant.Variant1(0.3, accountant.Poisson{Mean: 3}, accountant.DPSGD(0.1, 2, 5))} {
		for _, mode := range modes {
			o := accountant.Options{Mode: mode}
			all, err := accountant.Epsilons(e, o, deltas...)
			if err != nil {
				t.Fatal(err)
			}
			for i, delta := range deltas {
				if g, err := accountant.Epsilon(e, delta, o); err != nil || math.Abs(g.Epsilon-all[i]) > 1e-3*all[i] {
					t.Errorf("%s, mode %s, delta %v: epsilon %v, %v, and of several %v", text(e), mode, delta, g.Epsilon, err, all[i])
				}
			}
			if all, err = accountant.Deltas(e, o, epsilons...); err != nil {
				t.Fatal(err)
			}
			for i, epsilon := range epsilons {
				if g, err := accountant.Delta(e, epsilon, o); err != nil || math.Abs(g.Delta-all[i]) > 3e-3*all[i] && g.Delta > 1e-12 {
					t.Errorf("%s, mode %s, epsilon %v: delta %v, %v, and of several %v", text(e), mode, epsilon, g.Delta, err, all[i])
				}
			}
		}
	}
}

// TestClosedFormsAreExact checks the arithmetic above against itself: two precisions, and on both sides of 12 the two
// ways to the normal distribution, agree to 60 digits. The cases of inversion_test.go at rate 1 compare it with
// mpmath's.
func TestClosedFormsAreExact(t *testing.T) {
	close := func(what string, x, y *big.Float) {
		t.Helper()
		if !negligible(sub(x, y), x, 200) {
			t.Errorf("%s: %.30g and %.30g", what, x, y)
		}
	}
	for x := 8.0; x < 20; x += 0.37 {
		close(fmt.Sprintf("tail at %v", x), tailSeries(real(x)), tailFraction(real(x)))
	}
	for _, mu := range []float64{1e-300, 1e-9, 0.02, 0.3, 1, 7, 20, 400} {
		for _, epsilon := range []float64{5e-324, 1e-20, 0.1, 1, 30, 500} {
			mu, epsilon := real(mu), real(epsilon)
			close(fmt.Sprintf("delta for mu %v at %v", mu, epsilon), gaussianDelta(mu, epsilon), gaussianDelta(widened(mu, 700), epsilon))
			close(fmt.Sprintf("logarithm of %v", epsilon), exp(log1p(epsilon)), add(real(1), epsilon))
		}
	}
}
