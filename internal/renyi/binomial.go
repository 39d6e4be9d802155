package renyi

import (
	"math"
	"sync"

	"github.com/dptrain/dptrain/internal/float"
)

// logFactorials returns log n! for n = 0..MaxOrder.
var logFactorials = sync.OnceValue(func() []float64 {
	t := make([]float64, MaxOrder+1)
	for n := range t {
		t[n], _ = math.Lgamma(float64(n) + 1)
	}
	return t
})

// A binomialMixture is the family of sums
//
//	sum_{j=0..n} C(n,j) p^j (1-p)^{n-j} (e^{x_j + y_{n-j}} - 1),  x, y >= 0,
//
// for all n at once. It factorises them into convolutions of positive sequences by e^{x+y} - 1 = (e^x - 1) e^y + (e^y -
// 1), so that nothing cancels, however close to 1 the exponentials are, and no exponential is needed inside the double
// loop over orders.
type binomialMixture struct {
	first, last   sequence // p^j/j! (e^{x_j} - 1) and (1-p)^j/j! e^{y_j}
	first0, last0 sequence // p^j/j! and (1-p)^j/j! (e^{y_j} - 1); empty where y is 0
	size          float64  // |log p| + |log(1-p)|
}

// newBinomialMixture takes p in (0, 1) and the exponents x_j at x[j] and y_j at y[j]. A nil y is 0 everywhere.
func newBinomialMixture(p float64, x, y []float64) binomialMixture {
	fact := logFactorials()
	logP, log1P := float.Log(p), math.Log1p(-p)
	m := binomialMixture{first: newSequence(len(x)), last: newSequence(len(x)), size: -logP - log1P}
	if y != nil {
		m.first0, m.last0 = newSequence(len(x)), newSequence(len(x))
	}
	for j := range x {
		w, v := float64(j)*logP-fact[j], float64(j)*log1P-fact[j]
		m.first.set(j, w+logExpm1(x[j]))
		if y == nil {
			m.last.set(j, v)
			continue
		}
		m.last.set(j, v+y[j])
		m.first0.set(j, w)
		m.last0.set(j, v+logExpm1(y[j]))
	}
	return m
}

// logSum returns the logarithm of the sum for n, rounded up.
func (m binomialMixture) logSum(n int) float64 {
	s := m.first.logConvolution(m.last, n)
	if m.last0.exp != nil {
		s = logAdd(s, m.first0.logConvolution(m.last0, n))
	}
	if math.IsInf(s, 0) {
		return s
	}
	// Every term is a product of powers and factorials, each with a rounding or two of its logarithm; the sum adds n.
	logFactorial := logFactorials()[n]
	slack := 0x1p-50 * (float64(n)*(m.size+1) + 2*logFactorial + math.Abs(s) + 10)
	return s + logFactorial + slack
}

// A sequence holds positive numbers frac·2^exp of any size; 0 has the exponent absent and infinity has -absent.
type sequence struct {
	frac []float64
	exp  []int64
}

const absent = -1 << 60

func newSequence(n int) sequence {
	return sequence{frac: make([]float64, n), exp: make([]int64, n)}
}

// set sets element i to e^x.
func (s sequence) set(i int, x float64) {
	const ln2High, ln2Low = 6.93147180369123816490e-01, 1.90821492927058770002e-10
	switch {
	case x < -1e15:
		s.frac[i], s.exp[i] = 1, absent
	case !(x <= 1e15): // NaN, if it should ever occur, counts as infinity
		s.frac[i], s.exp[i] = 1, -absent
	default:
		k := math.Floor(x * math.Log2E)
		s.frac[i], s.exp[i] = math.Exp(x-k*ln2High-k*ln2Low), int64(k)
	}
}

// logConvolution returns log sum_{j=0..n} s_j t_{n-j}. It leaves out terms below 2^-64 of the largest: at most MaxOrder
// of them, together less than one rounding.
func (s sequence) logConvolution(t sequence, n int) float64 {
	sExp, tExp := s.exp[:n+1], t.exp[:n+1]
	top := int64(2 * absent)
	for j, e := range sExp {
		top = max(top, e+tExp[n-j])
	}
	if top < absent/2 {
		return math.Inf(-1)
	}
	if top > -absent/2 {
		return math.Inf(1)
	}
	sFrac, tFrac := s.frac[:n+1], t.frac[:n+1]
	sum := 0.0
	for j, e := range sExp {
		if d := e + tExp[n-j] - top; d >= -64 {
			sum += sFrac[j] * tFrac[n-j] * math.Float64frombits(uint64(1023+d)<<52)
		}
	}
	return float.Log(sum) + float64(top)*math.Ln2
}

// logExpm1 returns log(e^x - 1) for x >= 0.
func logExpm1(x float64) float64 {
	if x > 30 {
		return x + math.Log1p(-math.Exp(-x))
	}
	return float.Log(math.Expm1(x))
}

// log1pExp returns log(1 + e^x).
func log1pExp(x float64) float64 {
	if x > 30 {
		return x + math.Exp(-x)
	}
	return math.Log1p(math.Exp(x))
}

// logAdd returns log(e^x + e^y).
func logAdd(x, y float64) float64 {
	if x < y {
		x, y = y, x
	}
	if math.IsInf(y, -1) || math.IsInf(x, 1) {
		return x
	}
	return x + log1pExp(y-x)
}
