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
