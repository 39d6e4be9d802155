package pld

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dptrain/dptrain/accountant/internal/repetitions"
	"github.com/dptrain/dptrain/internal/long"
)

// A hinged sums w (a - c b)_+.
type hinged []struct{ w, c float64 }

func (h hinged) of(a, b float64) (sum float64) {
	for _, x := range h {
		sum += x.w * math.Max(0, a-x.c*b)
	}
	return sum
}

// levels are for a wholeOrder.
func (h hinged) levels() (out []level) {
	for _, x := range h {
		out = append(out, level{w: x.w, c: x.c, log: math.Log(x.c)})
	}
	return out
}

// drawHinged draws weights by ascending c: at random, or from a smooth density.
func drawHinged(r *rand.Rand) hinged {
	n := 2 + r.IntN(60)
	centre, width := 6*r.Float64()-1, math.Exp(3*r.Float64()-1)
	tilt, bend, noise := 4*r.Float64()-2, 6*r.Float64()-1, 2*r.Float64()*float64(r.IntN(2))
	h := make(hinged, n)
	for i := range h {
		x := (float64(i)+0.5*r.Float64())/float64(n)*2 - 1
		h[i].c, h[i].w = math.Exp(centre+width*x), math.Exp(tilt*x-bend*x*x+noise*r.NormFloat64())/float64(n)
	}
	return h
}

func (d law) wholeOrder(k repetitions.Distribution) *wholeOrder {
	p, q, inf := d.finite()
	return wholeOrderOf(p, q, inf, k)
}

// TestMixtureIsAbove checks that the table of R is above its levels everywhere.
func TestMixtureIsAbove(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 1))
	for range 400 {
		h := drawHinged(r)
		levels := h.levels()
		s := newSharing(levels, r.IntN(len(levels)-1))
		m := s.mixture()
		for range 300 {
			z := math.Exp(24*r.Float64() - 14)
			want := 0.0
			for _, x := range s.levels {
				want += x.w * math.Max(0, 1-x.c*z)
			}
			if got := m.rate(1, z, math.Log(z)); !(got >= want) {
				t.Fatalf("%v: at %v %v is below %v", h, z, got, want)
			}
			all := want
			for _, x := range s.alone {
				all += x.w * math.Max(0, 1-x.c*z)
			}
			if want := h.of(1, z); !(all >= want*(1-1e-12)) {
				t.Fatalf("%v: at %v the parts have %v and not %v", h, z, all, want)
			}
		}
	}
}

// TestMixtureIsLogConcave integrates the density anew, by brute force, and checks that the table is above it.
func TestMixtureIsLogConcave(t *testing.T) {
	r := rand.New(rand.NewPCG(32, 1))
	for range 50 {
		h := drawHinged(r)
		s := newSharing(h.levels(), 0)
		m := s.mixture()
		l := s.density.log
		for g := 2; g < len(l); g++ {
			if l[g]-l[g-1] > l[g-1]-l[g-2]+1e-9 {
				t.Fatalf("%v: not concave at %d", h, g)
			}
		}
		for range 20 {
			z := math.Exp(10*r.Float64() - 8)
			want := 0.0
			const fine = 16
			for g := range len(l) - 1 {
				for x := range fine {
					y := (float64(x) + 0.5) / fine
					n := math.Exp(l[g]*(1-y) + l[g+1]*y)
					want += n * math.Max(0, 1-z*math.Exp(s.density.low+(float64(g)+y)*s.density.step)) * s.density.step / fine
				}
			}
			want *= s.factor
			if got := m.rate(1, z, math.Log(z)); got < want*(1-1e-4)-1e-300 {
				t.Fatalf("%v: at %v %v is below %v", h, z, got, want)
			}
		}
	}
}

// TestOneOrderBoundOfCells checks the bound on whole uncut cells against orders of small parts of cells, and the bound
// on fine cells from both sides.
func TestOneOrderBoundOfCells(t *testing.T) {
	r, most := rand.New(rand.NewPCG(33, 1)), 7
	for i := range 460 {
		fine := i >= 400
		if i == 400 {
			r, most = rand.New(rand.NewPCG(34, 1)), 5
		}
		d, k := drawLossPair(r, most), drawK(t, r)
		if fine && mean(k) > 30 { // the pieces are too coarse
			continue
		}
		h := drawHinged(r)
		if long.Leaves(i, 4) {
			continue
		}
		m := newSharing(h.levels(), 0).mixture()
		cells, pieces := d, d.split(40)
		if fine {
			pieces = d.split(100)
			cells = pieces
		}
		attained := pieces.intervals(k).best(func(a, b float64) float64 {
			if a <= 0 {
				return 0
			}
			return m.rate(a, b, math.Log(b/a))
		})
		if attained < 1e-6 {
			continue
		}
		if bound := cells.wholeOrder(k).worst(m); !(bound >= attained*(1-orderError)) || fine && bound > attained*1.1 {
			t.Errorf("%v, %#v, fine %v: the bound is %v, attained is %v", d, k, fine, bound, attained)
		}
	}
}

// TestNoOrderBeatsOneOrder tries every order of small pairs against the bound, for weights of every shape.
func TestNoOrderBeatsOneOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(35, 1))
	closest := math.Inf(1)
	for range 300 {
		d, k := drawLossPair(r, 5), drawK(t, r)
		h := drawHinged(r)
		pieces := 1
		if len(d.p) <= 3 {
			pieces = 3
		}
		all := d.split(pieces).bestOrder(k, h.of)
		if all < 1e-6 {
			continue
		}
		s := newSharing(h.levels(), 0)
		bound := d.split(8).wholeOrder(k).worst(s.mixture())
		if bound < all*(1-orderError) {
			t.Errorf("%v, %#v, %v: the bound of %v is below %v", d, k, h, bound, all)
		}
		closest = math.Min(closest, bound/all)
	}
	t.Logf("least bound/attained %v", closest)
}
