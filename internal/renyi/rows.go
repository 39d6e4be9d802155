package renyi

import (
	"math"

	"github.com/dptrain/dptrain/internal/float"
)

// Rows returns the curve of one DP-SGD step with sampling rate g and noise multiplier s for a unit of several rows, up
// to order high: the larger of the two divergences between P = sum_k w_k N(k, s^2) and Q = N(0, s^2), k ~
// Binomial(rows, g). For one row it is [SampledGaussian].
//
// In standard deviations the likelihood ratio is L(z) = sum_k w_k e^{k z/s - k^2/(2 s^2)}. The two divergences are
// log E L^a/(a-1) and log E L^{1-a}/(a-1) under Q. Since E L = 1, E L^c = 1 + E (L^c - 1 - c (L-1)) for c = a and c =
// 1-a, and the function in brackets is never negative, so that nothing cancels in its integral. The trapezoid rule
// computes it, with an error below its rounding:
//
//   - L^a is a sum of terms w e^{n z/s - d} with n whole and w > 0, and with the density each is a normal density
//     around n/s. By Poisson's summation formula the trapezoid rule of width h gives the integral of a normal density
//     to a relative 2.1 e^{-2 pi^2/h^2}, 2e-34 for h = 1/2.
//   - L^{1-a} is analytic where |Im z| <= d = 0.3 s/rows, since there every term of L turns by an angle of at most 0.3,
//     so that |L(x+iy)| >= L(x) cos 0.3. So the integral of |phi L^{1-a}| along a line of this strip is at most
//     e^{d^2/2} (cos 0.3)^{1-a} times E L^{1-a}, and the rule's relative error is at most that times 2/(e^{2 pi d/h} -
//     1) (Trefethen and Weideman, "The exponentially convergent trapezoidal rule", 2014, Theorem 5.1). h is chosen so
//     that this is below 1e-17.
//
// The rule bounds the integral beyond its nodes and adds the bound.
func Rows(rate, noise float64, rows, high int) Curve {
	switch {
	case rows == 1 || rate == 0:
		return SampledGaussian(rate, noise, high)
	case rate == 1 || noise == 0:
		return Gaussian(noise/float64(rows)*(1-ulp), high)
	}
	m := newRowMixture(rate, noise, rows)
	c := NewCurve(high)
	forth, back := m.forth(high), m.back(high)
	for a := 2; a <= high; a++ {
		c[a] = math.Max(forth[a], back[a])
	}
	return c
}

// A rowMixture is the likelihood ratio of Rows.
type rowMixture struct {
	noise float64
	log   []float64 // log w_k
	error float64   // bounds the error of a logarithm
}

func newRowMixture(rate, noise float64, rows int) *rowMixture {
	m := &rowMixture{noise: noise}
	fact := logFactorials()
	logRate, logRest := float.Log(rate), math.Log1p(-rate)
	for k := range rows + 1 {
		m.log = append(m.log, fact[rows]-fact[k]-fact[rows-k]+float64(k)*logRate+float64(rows-k)*logRest)
	}
	m.error = (float64(rows)*(math.Abs(logRate)+math.Abs(logRest)) + 3*fact[rows] + 3) * 0x1p-50
	return m
}

// at returns log L(z), L(z)-1, and bounds on the error of log L and, relative to L, of L-1.
func (m *rowMixture) at(z float64) (logL, y, error float64) {
	top := math.Inf(-1)
	x := func(k int) float64 { return float64(k) / m.noise * (z - float64(k)/m.noise/2) }
	for k, w := range m.log {
		top = math.Max(top, w+x(k))
	}
	if top < 600 {
		for k := 1; k < len(m.log); k++ {
			if x := x(k); m.log[k]+math.Max(x, 0) > -80 { // the others together are below a rounding
				y += math.Exp(m.log[k]) * math.Expm1(x)
			}
		}
	}
	if top < 600 && y > -0.5 {
		logL = math.Log1p(y)
	} else {
		sum := 0.0
		for k, w := range m.log {
			if y := w + x(k) - top; y > -80 {
				sum += math.Exp(y)
			}
		}
		logL = top + math.Log(sum)
		y = math.Expm1(logL)
		error = m.error + (math.Abs(top)+float64(len(m.log)))*0x1p-50
	}
	error += float64(len(m.log)) * 1e-34 * (1 + math.Exp(-logL))
	for k := 1; k < len(m.log); k++ {
		step := float64(k) / m.noise
		if m.log[k]+math.Max(x(k), 0)-logL < -80 {
			continue
		}
		size := math.Abs(step*z) + step*step + math.Abs(m.log[k]) + 3
		share := math.Exp(m.log[k]+x(k)-logL) + math.Exp(m.log[k]-logL)
		error += share * (size*0x1p-50 + m.error)
	}
	return logL, y, error
}

// excess returns the logarithm of L^c - 1 - c (L-1), rounded up, given log L, L-1 and their error.
func excess(c, logL, y, error float64) float64 {
	x := c * logL
	switch {
	case x > 50: // -1 - c y lowers the result
		return x + math.Abs(c)*error + math.Abs(x)*0x1p-51
	case c < 0 && logL > 50: // L^c - 1 is below 0, and so is c
		return math.Log(-c) + logL + error + 1e-9
	}
	// Both differences are rounded, and log L and L-1 are off by error.
	cy := c * y
	v := math.Expm1(x) - cy
	v += math.Abs(c) * error * (1 + y + math.Exp(x))
	v += (math.Abs(x)*math.Exp(x) + math.Abs(math.Expm1(x)) + math.Abs(cy)) * 0x1p-50
	return float.Log(math.Max(v, math.SmallestNonzeroFloat64))
}

// logDensity is the logarithm of the standard normal density at z, rounded up.
func logDensity(z float64) float64 {
	return -z*z/2*(1-0x1p-51) - 0.9189385332046727
}

// forth returns log E L^a/(a-1) at every order a.
func (m *rowMixture) forth(high int) Curve {
	const h, reach = 0.5, 11
	k := float64(len(m.log)-1) / m.noise
	if !(float64(high)*k < 2e5) { // too many nodes, and no useful bound
		return m.none(high)
	}
	nodes := m.nodes(-reach, float64(high)*k+reach, h)
	c := NewCurve(high)
	for a := 2; a <= high; a++ {
		// All terms of L^a are around 0 to a k: the nodes hold all but a relative 1e-17 of each, since reach > 10.
		n := min(len(nodes), int((float64(a)*k+2*reach)/h)+2)
		c[a] = divergence(nodes[:n], float64(a), h, a, -59)
	}
	return c
}

// back returns log E L^{1-a}/(a-1) at every order a.
func (m *rowMixture) back(high int) Curve {
	const angle = 0.3
	k := float64(len(m.log)-1) / m.noise
	d := math.Min(angle/k, 1)
	h := 2 * math.Pi * d / (float64(high)*-math.Log(math.Cos(angle)) + 41 + d*d/2)
	logW0 := math.Min(0, m.log[0])
	// Beyond the nodes L^{1-a} is at most w_0^{1-a} on the left and L^{1-a} at the end on the right, where
	// (a-1)(L-1) counts as well: at most (a-1) times P's mass there.
	left := math.Sqrt(2 * (float64(high)*-logW0 + 45))
	right := k + 11
	if !((left+right)/h < 2e5) {
		return m.none(high)
	}
	nodes := m.nodes(-left, right, h)
	end := nodes[len(nodes)-1].logL
	c := NewCurve(high)
	for a := 2; a <= high; a++ {
		p := float64(a - 1)
		outside := math.Exp(p*-logW0-left*left/2) + math.Exp(-p*math.Min(0, end)-121./2) + p*math.Exp(-121./2) + 1e-16
		c[a] = divergence(nodes, -p, h, a, math.Log(outside)+1e-9)
	}
	return c
}

// none returns a curve that bounds nothing.
func (m *rowMixture) none(high int) Curve {
	c := NewCurve(high)
	for a := 2; a <= high; a++ {
		c[a] = math.Inf(1)
	}
	return c
}

// A rowNode is a node of the trapezoid rule.
type rowNode struct{ density, logL, y, error float64 }

func (m *rowMixture) nodes(low, high, h float64) []rowNode {
	nodes := make([]rowNode, 0, int((high-low)/h)+2)
	for i := range cap(nodes) {
		z := low + float64(i)*h
		n := rowNode{density: logDensity(z)}
		n.logL, n.y, n.error = m.at(z)
		nodes = append(nodes, n)
	}
	return nodes
}

// divergence returns log(1 + E (L^c - 1 - c (L-1)))/(a-1), rounded up, given the logarithm of the integral beyond the
// nodes.
func divergence(nodes []rowNode, c, h float64, a int, outside float64) float64 {
	top := math.Inf(-1)
	for _, n := range nodes {
		top = math.Max(top, n.density+c*n.logL)
	}
	if math.IsInf(top, 1) || math.IsNaN(top) {
		return math.Inf(1)
	}
	sum := 0.0
	top = math.Max(top, -700)
	for _, n := range nodes {
		sum += math.Exp(n.density + excess(c, n.logL, n.y, n.error) - top)
	}
	logSum := logAdd(float.Log(sum*h)+top, outside)
	return mixtureDivergence(logSum+1e-12+math.Abs(top)*0x1p-50, a)
}
