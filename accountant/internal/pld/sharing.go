package pld

import (
	"math"
	"slices"
)

// A sharing splits levels into those that share an order and those that have orders of their own, and holds a
// log-concave density whose R, times the factor, is above the R of the shared levels.
type sharing struct {
	levels, alone []level
	density       density
	// The density's R and -z R1, R1 being the derivative of R, at z = e^-s for each node s.
	value, fall []float64
	factor      float64
}

// A density over log c is given by its logarithm at the nodes low, low+step, ..., which is linear between them; beyond
// them the density is 0. The logarithms are concave up to roundings far below the roundings of R: a log-concave density
// is within a relative 2^-36 above it, and the table of R is raised by more.
type density struct {
	low, step float64
	log       []float64
}

const (
	finestNodes = 0.01
	mostNodes   = 4096
)

// newSharing gives one order to the levels from low on, and to the parts of the levels below low that are under the
// tangent at the lower end of the former levels' log-concave density.
func newSharing(levels []level, low int) *sharing {
	n := len(levels)
	width := func(i int) float64 {
		a, b := max(0, i-1), min(n-1, i+1)
		return (levels[b].log - levels[a].log) / float64(b-a)
	}
	// The upper hull of the logarithms of the levels' density.
	type point struct{ s, log float64 }
	slope := func(a, b point) float64 { return (b.log - a.log) / (b.s - a.s) }
	var hull []point
	for i := low; i < n; i++ {
		p := point{levels[i].log, math.Log(levels[i].w / width(i))}
		for len(hull) > 1 && slope(hull[len(hull)-1], p) >= slope(hull[len(hull)-2], hull[len(hull)-1]) {
			hull = hull[:len(hull)-1]
		}
		hull = append(hull, p)
	}
	at := func(k int, s float64) float64 { return hull[k].log + (s-hull[k].s)*slope(hull[k], hull[k+1]) }

	s := &sharing{}
	first := low
	for ; first > 0; first-- {
		x := levels[first-1]
		below := math.Exp(at(0, x.log)) * width(first-1)
		if !(below > 1e-3*x.w && below < 1e3*x.w) {
			break
		}
		w := math.Min(x.w, below)
		shared, alone := x, x
		part := (x.w-w)/x.w + 0x1p-50
		shared.w, shared.alone, alone.w, alone.alone = w, x.alone*(w/x.w), x.w*part, x.alone*part
		s.levels, s.alone = append(s.levels, shared), append(s.alone, alone)
	}
	slices.Reverse(s.levels)
	slices.Reverse(s.alone)
	s.alone = append(slices.Clone(levels[:first]), s.alone...)
	s.levels = append(s.levels, levels[low:]...)

	lowest, to := levels[first].log, levels[n-1].log+width(n-1)/2
	step := math.Max(finestNodes, (to-lowest)/mostNodes)
	from := lowest - math.Max(width(first), 1.5*step) // so that the density's R is positive where the levels' begins
	s.density.low, s.density.step = from, step
	for g, k := 0, 0; ; g++ {
		c := from + float64(g)*s.density.step
		for k+2 < len(hull) && hull[k+1].s < c {
			k++
		}
		s.density.log = append(s.density.log, at(k, c))
		if c >= to {
			break
		}
	}
	s.lift()
	return s
}

// lift sets the factor for which the density's R is above the levels' R everywhere.
//
// With x = z/z_g between the nodes at z_g = e^-s_g and z_(g-1) > z_g, the levels' R, which is convex, is at most its
// chord, and the density's R at least the larger of its tangents at the ends. The ratio of a linear function and the
// larger of two others is largest at an end or where the two meet. Left of the last node both are linear down to z = 0.
// Sums have terms of one sign except where the tangents meet: there a few roundings of the density's R may be left,
// which the mixture adds to R everywhere.
func (s *sharing) lift() {
	n, h := len(s.density.log), s.density.step
	mean := func(x float64) float64 { // of e^t over 0 to x
		if x == 0 {
			return 1
		}
		return math.Expm1(x) / x
	}
	s.value, s.fall = make([]float64, n), make([]float64, n)
	s.factor = 1
	above := func(want, have float64) {
		if want > 0 {
			s.factor = math.Max(s.factor, want/have)
		}
	}
	fade, wider := math.Exp(-h), math.Expm1(h) // z_(g-1) = (1 + wider) z_g
	want, wantFall, wantBefore := 0.0, 0.0, 0.0
	k := 0
	for g := range n {
		if g > 0 {
			slope := s.density.log[g] - s.density.log[g-1]
			here := math.Exp(s.density.log[g-1]) * h
			weight, moment := here*mean(slope), here*mean(slope+h) // of the piece, its moment in units of its lower end
			s.value[g] = s.value[g-1] + s.fall[g-1]*fade*wider + math.Max(0, weight-fade*moment)
			s.fall[g] = (s.fall[g-1] + moment) * fade
			wantBefore = want
			want += wantFall * fade * wider
			wantFall *= fade
		}
		c := math.Exp(s.density.low + float64(g)*h)
		for ; k < len(s.levels) && s.levels[k].c <= c; k++ {
			want += s.levels[k].w * (1 - s.levels[k].c/c)
			wantFall += s.levels[k].w * s.levels[k].c / c
		}
		above(want, s.value[g])
		if g > 0 {
			flat := s.fall[g]           // -R1 at z_g
			right := s.fall[g-1] * fade // -R1 at z_(g-1), in units of z_g
			x := 0.0                    // x-1
			if flat > right {
				x = math.Max(0, math.Min((s.value[g]-s.value[g-1]-right*wider)/(flat-right), wider))
			}
			have := math.Max(s.value[g]-flat*x, s.value[g-1]+right*(wider-x))
			above(want+(wantBefore-want)*(x/wider), have)
		}
	}
	above(want+wantFall, s.value[n-1]+s.fall[n-1])
	// Falls over z must not overflow, since they would then count as 0.
	largest := s.factor * (s.value[n-1] + s.fall[n-1]) * math.Exp(math.Max(0, s.density.low+float64(n-1)*h))
	if k < len(s.levels) || !(largest < 0x1p1000) {
		s.factor = math.Inf(1)
	}
}

// price estimates the cost of the shared levels as if all levels of the raised density had orders of their own.
func (s *sharing) price(tuned *side) float64 {
	const every = 4
	total := 0.0
	for g := 0; g < len(s.density.log); g += every {
		total += math.Exp(s.density.log[g]) * tuned.at(s.density.low+float64(g)*s.density.step)
	}
	return total * every * s.density.step * s.factor
}
