package pld

import "math"

// mixture returns the density's R, times the factor, as a table.
func (s *sharing) mixture() *mixture {
	n, h := len(s.value), s.density.step
	lift := s.factor * (1 + 16*rounding)
	low := -(s.density.low + float64(n-1)*h)
	m := &mixture{low: low, scale: 1 / h}
	total := (s.value[n-1] + s.fall[n-1]) * lift
	tiny := 0x1p-40 * total
	m.pieces = make([]piece, 0, n+1)
	m.pieces = append(m.pieces, piece{total + tiny, s.fall[n-1] * math.Exp(-low) * lift})
	for g := n - 1; g > 0; g-- {
		z := math.Exp(-(s.density.low + float64(g)*h))
		fall := (s.value[g] - s.value[g-1]) / math.Expm1(h) * lift // over z
		m.pieces = append(m.pieces, piece{s.value[g]*lift + fall + tiny, fall / z})
	}
	m.pieces = append(m.pieces, piece{tiny, 0})
	return m
}

// A mixture bounds R by a table of pieces, on each of which R is at most ordinate - fall z. Piece 0 is for log z below
// low, piece k > 0 begins at log z = low + (k-1)/scale, and the last has no end.
type mixture struct {
	low, scale float64
	pieces     []piece
}

type piece struct{ ordinate, fall float64 }

func (m *mixture) atZero() float64 { return m.pieces[0].ordinate }

// rate returns a R(b/a), given x = log b/a.
func (m *mixture) rate(a, b, x float64) float64 {
	k := 0
	if at := (x-m.low)*m.scale + 1; at >= 1 {
		k = len(m.pieces) - 1
		if at < float64(k) {
			k = int(at)
		}
	}
	p := &m.pieces[k]
	if v := a*p.ordinate - b*p.fall; !(v < 0) {
		return v
	}
	return 0
}

// Mixture returns a pair that dominates running one of several mechanisms. The i-th is drawn with probability
// weights[i], and pairs[i] dominates it. The weights are positive and add up to at least 1.
//
// Proof. The outcomes together with the draw are the disjoint union of the mechanisms' outcomes, so that its divergence
// is the sum of weights[i] times the i-th at every epsilon, and in both directions. R is linear in masses.
func Mixture(pairs []*Pair, weights []float64) (*Pair, error) {
	if len(pairs) == 1 {
		return pairs[0], nil
	}
	return onBoth(func(sides []*side) (*side, error) { return mixtureSide(sides, weights) }, pairs...)
}

func mixtureSide(sides []*side, weights []float64) (*side, error) {
	low, high := span(sides)
	b, err := newBuilder(sides[0].Grid, float64(low), float64(high))
	if err != nil {
		return nil, err
	}
	b.terms = 2 * len(sides)
	for k, s := range sides {
		into := b.mass[s.low-low:]
		for i, m := range s.mass {
			into[i] += weights[k] * m
		}
		b.inf += weights[k] * s.inf
	}
	return b.side()
}
