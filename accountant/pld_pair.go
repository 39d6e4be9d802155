package accountant

import "math"

// A pair is a dominating pair on a grid of privacy losses: distributions P (with the sample) and Q (without it), of which
// the masses p[i] and q[i] = p[i] e^-l lie at loss l = (low+i)·step. P has the mass pInf where Q has none, and Q has qInf
// where P has none. It bounds a mechanism when, at every real epsilon, its hockey-stick divergence is at least that of
// the mechanism on any dataset with a sample against the same dataset without it; the other direction follows. Masses
// may add up to more than 1, because every step of the analysis rounds them up.
//
// A pair is immutable.
type pair struct {
	step       float64
	low        int
	p, q       []float64
	pInf, qInf float64

	// Sums over i >= k and i < k, at index k = 0..len(p), for divergences in constant time.
	pAbove, qAbove, pBelow, qBelow []float64
}

func newPair(step float64, low int, p, q []float64, pInf, qInf float64) *pair {
	d := &pair{step: step, low: low, p: p, q: q, pInf: pInf, qInf: qInf}
	d.pAbove, d.pBelow = runningSums(p)
	d.qAbove, d.qBelow = runningSums(q)
	return d
}

func runningSums(x []float64) (above, below []float64) {
	above, below = make([]float64, len(x)+1), make([]float64, len(x)+1)
	for i, v := range x {
		below[i+1] = below[i] + v
	}
	for i := len(x) - 1; i >= 0; i-- {
		above[i] = above[i+1] + x[i]
	}
	return above, below
}

// neutral is the pair of a mechanism that ignores its data.
func neutral(step float64) *pair {
	return newPair(step, 0, []float64{1}, []float64{1}, 0, 0)
}

func (d *pair) loss(i int) float64 { return float64(d.low+i) * d.step }

// reversed swaps P and Q.
func (d *pair) reversed() *pair {
	n := len(d.p)
	p, q := make([]float64, n), make([]float64, n)
	for i := range p {
		p[i], q[i] = d.q[n-1-i], d.p[n-1-i]
	}
	return newPair(d.step, -(d.low + n - 1), p, q, d.qInf, d.pInf)
}

// remove is the hockey-stick divergence of P from Q at any real epsilon: the sum of (p - e^epsilon q)_+.
func (d *pair) remove(epsilon float64) float64 {
	return d.finiteRemove(epsilon) + d.pInf
}

func (d *pair) finiteRemove(epsilon float64) float64 {
	k := d.index(math.Floor(epsilon/d.step) + 1)
	return math.Max(0, d.pAbove[k]-math.Exp(epsilon)*d.qAbove[k])
}

// add is the hockey-stick divergence of Q from P.
func (d *pair) add(epsilon float64) float64 {
	k := d.index(math.Ceil(-epsilon / d.step))
	return math.Max(0, d.qBelow[k]-math.Exp(epsilon)*d.pBelow[k]) + d.qInf
}

// index turns a grid position into an index of the running sums.
func (d *pair) index(position float64) int {
	return int(math.Max(0, math.Min(position-float64(d.low), float64(len(d.p)))))
}

func (d *pair) deltaAt(epsilon float64) float64 {
	return math.Max(d.remove(epsilon), d.add(epsilon))
}

// builder collects masses on a grid, each split between the two grid points around its loss.
type builder struct {
	step       float64
	low        int
	p, q       []float64
	pInf, qInf float64
}

func newBuilder(step float64, low, high int) *builder {
	return &builder{step: step, low: low, p: make([]float64, high-low+1), q: make([]float64, high-low+1)}
}

// put adds the mass q of Q at the given loss, and e^loss q of P. Both masses are kept by the split, so the likelihood
// ratio is spread around its mean and no convex divergence gets smaller ("connect the dots": Doroshenko, Ghazi, Kamath,
// Kumar and Manurangsi, 2022).
func (b *builder) put(loss, q float64) {
	k := int(math.Floor(loss / b.step))
	at := float64(k) * b.step
	below := q * math.Exp(at) // of P, if the loss were that of the lower point
	upper := below * math.Expm1(loss-at) / -math.Expm1(-b.step)
	b.putAt(k+1, upper)
	b.putAt(k, math.Max(0, below*math.Exp(loss-at)-upper))
}

// putAt adds the mass p of P at a grid point.
func (b *builder) putAt(k int, p float64) {
	if p == 0 {
		return
	}
	b.p[k-b.low] += p
	b.q[k-b.low] += p * math.Exp(-float64(k)*b.step)
}

// pair returns the pair of what was put, less tails of no consequence: at the top P's masses go to infinity and Q's to the
// highest loss kept, which favours neither, and the same at the bottom.
func (b *builder) pair() *pair {
	tail := math.Exp(logTail)
	top, bottom := len(b.p)-1, 0
	var pTail, qTail float64
	for ; top > 0 && pTail+b.p[top] <= tail; top-- {
		pTail += b.p[top]
		qTail += b.q[top]
	}
	b.pInf += pTail
	b.putAt(b.low+top, qTail*math.Exp(float64(b.low+top)*b.step))
	pTail, qTail = 0, 0
	for ; bottom < top && qTail+b.q[bottom] <= tail; bottom++ {
		pTail += b.p[bottom]
		qTail += b.q[bottom]
	}
	b.qInf += qTail
	b.putAt(b.low+bottom, pTail)
	return newPair(b.step, b.low+bottom, b.p[bottom:top+1], b.q[bottom:top+1], b.pInf, b.qInf)
}
