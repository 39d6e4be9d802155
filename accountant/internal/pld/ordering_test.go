package pld

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dptrain/dptrain/accountant/internal/repetitions"
	"github.com/dptrain/dptrain/internal/long"
)

// bestOf dominates the best of K runs of a mechanism that d dominates.
func bestOf(d *Pair, k repetitions.Distribution) (*Pair, error) { return bestOfCells(d, k, CellCount) }

func bestOfCells(d *Pair, k repetitions.Distribution, cells int) (*Pair, error) {
	if repetitions.Once(k) {
		return d, nil
	}
	best, _, err := NewSelection(d, k, cells).Pair(d.removal.Grid)
	return best, err
}

// drawLossPair draws 2 to most outcomes by ascending loss: the first may have p = 0 and the last q = 0. Masses and
// losses come near the ends of their range.
func drawLossPair(r *rand.Rand, most int) law {
	n := 2 + r.IntN(most-1)
	depth, spread := 12*r.Float64()*r.Float64(), math.Exp(5*r.Float64()-3)
	var d law
	for range n {
		p := math.Exp(-depth * r.Float64())
		d.p, d.q = append(d.p, p), append(d.q, p*math.Exp(spread*(2*r.Float64()-1)))
	}
	if r.IntN(4) == 0 {
		d.q[0] = 0
	}
	if r.IntN(4) == 0 {
		d.p[1] = 0
	}
	normalise(d.p)
	normalise(d.q)
	sortByLoss(d)
	return d
}

func sortByLoss(d law) {
	for i := range d.p { // few
		for j := i; j > 0 && d.p[j]*d.q[j-1] < d.p[j-1]*d.q[j]; j-- {
			d.p[j], d.p[j-1], d.q[j], d.q[j-1] = d.p[j-1], d.p[j], d.q[j-1], d.q[j]
		}
	}
}

// split cuts every outcome into pieces of equal masses.
func (d law) split(pieces int) law {
	var out law
	for i := range d.p {
		for range pieces {
			out.p, out.q = append(out.p, d.p[i]/float64(pieces)), append(out.q, d.q[i]/float64(pieces))
		}
	}
	return out
}

// finite returns the outcomes of finite loss, and the mass of P at infinity.
func (d law) finite() (p, q []float64, inf float64) {
	p, q = d.p, d.q
	if n := len(p) - 1; q[n] == 0 {
		p, q, inf = p[:n], q[:n], p[n]
	}
	if p[0] == 0 {
		p, q = p[1:], q[1:]
	}
	return p, q, inf
}

// ordering takes the outcomes as cells, without cutting them.
func (d law) ordering(k repetitions.Distribution) *ordering {
	p, q, inf := d.finite()
	return orderingOf(p, q, inf, k)
}

// intervals are the orders that grow an interval of losses, with each outcome's contribution to phi of P and of Q.
type intervals struct {
	n     int
	added func(i, j, cell int) [2]float64 // to reach [i, j)
}

// intervals computes masses by share, so that small ones keep their digits and can be compared.
func (d law) intervals(k repetitions.Distribution) intervals {
	n := len(d.p)
	sums := func(m []float64) (below, above []float64) {
		below, above = make([]float64, n+1), make([]float64, n+1)
		for i := range n {
			below[i+1], above[n-1-i] = below[i]+m[i], above[n-i]+m[n-1-i]
		}
		return below, above
	}
	belowP, aboveP := sums(d.p)
	belowQ, aboveQ := sums(d.q)
	return intervals{n, func(i, j, cell int) [2]float64 {
		p, q := d.p[cell], d.q[cell]
		return [2]float64{p * share(k, belowP[i]+aboveP[j], p), q * share(k, belowQ[i]+aboveQ[j], q)}
	}}
}

// tabulated reads all values from tables, for many integrands.
func (o intervals) tabulated() intervals {
	n := o.n
	// To [i, j) by its last cell, and by its first.
	up, down := make([][2]float64, (n+1)*(n+1)), make([][2]float64, (n+1)*(n+1))
	for j := range n + 1 {
		for i := range j {
			up[i*(n+1)+j], down[i*(n+1)+j] = o.added(i, j, j-1), o.added(i, j, i)
		}
	}
	return intervals{n, func(i, j, cell int) [2]float64 {
		if cell == i {
			return down[i*(n+1)+j]
		}
		return up[i*(n+1)+j]
	}}
}

// best is the largest sum of f over the orders of whole outcomes that grow an interval of losses, by the definition:
// states are intervals.
func (o intervals) best(f func(a, b float64) float64) (best float64) {
	value := make([]float64, o.n+1)
	for j := o.n; j >= 0; j-- {
		for i := range j + 1 {
			if j < o.n {
				x := o.added(i, j+1, j)
				value[i] += f(x[0], x[1])
			}
			if i > 0 {
				x := o.added(i-1, j, i-1)
				value[i] = max(value[i], value[i-1]+f(x[0], x[1]))
			}
		}
		best = max(best, value[j])
	}
	return best
}

// above is the integrand (s1 - c s0)_+.
func above(c float64) func(a, b float64) float64 {
	return func(a, b float64) float64 { return max(0, a-c*b) }
}

// bestOrder is the largest sum of f over all orders of at most nine whole outcomes.
func (d law) bestOrder(k repetitions.Distribution, f func(a, b float64) float64) (best float64) {
	used := make([]bool, len(d.p))
	var place func(count int, aboveP, aboveQ, sum float64)
	place = func(count int, aboveP, aboveQ, sum float64) {
		if count == len(used) {
			best = math.Max(best, sum)
			return
		}
		for i, p := range d.p {
			q := d.q[i]
			// Outcomes of the same masses are alike: only the first unused one is tried.
			if used[i] || i > 0 && !used[i-1] && p == d.p[i-1] && q == d.q[i-1] {
				continue
			}
			used[i] = true
			place(count+1, aboveP+p, aboveQ+q, sum+f(p*share(k, aboveP, p), q*share(k, aboveQ, q)))
			used[i] = false
		}
	}
	place(0, 0, 0, 0)
	return best
}

func drawK(t testing.TB, r *rand.Rand) repetitions.Distribution {
	mean := math.Exp(5 * r.Float64())
	switch r.IntN(4) {
	case 0:
		return repetitions.Poisson{Mean: mean / 8}
	case 1:
		return repetitions.TruncatedPoisson{Rate: mean / 4}
	case 2:
		k, err := negativeBinomial(3*r.Float64()-0.95, 1.01*mean)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	return repetitions.Poisson{Mean: 4 * mean}
}

// level draws a c at which the integral is neither 1 nor 0.
func (d law) level(k repetitions.Distribution, r *rand.Rand) float64 {
	want := math.Exp(-12 * r.Float64() * r.Float64())
	low, high := 1e-3, 1e9
	table := d.intervals(k).tabulated()
	for range 40 {
		mid := math.Sqrt(low * high)
		if table.best(above(mid)) > want {
			low = mid
		} else {
			high = mid
		}
	}
	return math.Sqrt(low * high)
}

// orderError covers the rounding of sums over differences of phi, for integrals of at least 1e-6.
const orderError = 1e-9

// TestNoOrderBeatsIntervals tries every order of small pairs, whose outcomes are cut into a few pieces each, against
// the orders that grow an interval, of finer pieces, and against the bound.
func TestNoOrderBeatsIntervals(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 1))
	draw := func() repetitions.Distribution { return drawK(t, r) }
	for i := range 800 {
		if i == 300 {
			r = rand.New(rand.NewPCG(14, 1))
			draw = func() repetitions.Distribution { return drawBinomial(r) }
		}
		d, k := drawLossPair(r, 5), draw()
		pieces := 1
		if len(d.p) <= 3 {
			pieces = 3
		}
		c := d.split(16).level(k, r)
		if long.Leaves(i, 4) {
			continue
		}
		all := d.split(pieces).bestOrder(k, above(c))
		if all < 1e-6 {
			continue
		}
		fine := 48
		interval := d.split(fine).intervals(k).best(above(c))
		for ; all > interval*(1+orderError) && fine < 800; fine *= 2 { // coarse pieces fake counterexamples
			interval = d.split(2 * fine).intervals(k).best(above(c))
		}
		if all > interval*(1+orderError) {
			t.Errorf("%v, %#v, c %v: an order has %v, intervals %v", d, k, c, all, interval)
		}
		if bound := d.ordering(k).at(c); !(bound >= math.Max(all, interval)*(1-orderError)) {
			t.Errorf("%v, %#v, c %v: the bound of %v is below %v", d, k, c, bound, math.Max(all, interval))
		}
	}
}

// TestTurnsWithinARow has orders that place a cell between two parts of a cell that counts, after many small cells: the
// gain of a part of a large first cell doesn't hide the gain of such a turn.
func TestTurnsWithinARow(t *testing.T) {
	const small = 40
	k := repetitions.Poisson{Mean: 1}
	phi := func(z float64) float64 { return math.Exp(z - 1) }
	comparisons := 0
	for _, low := range []float64{0.001, 0.02, 0.05} {
		for _, ratio := range []float64{1.05, 2, 3} {
			for _, first := range []float64{0.1, 0.2, 0.4} {
				for _, last := range []float64{0.05, 0.1, 0.3} {
					for _, level := range []float64{0.02, 0.1, 0.4} {
						inf := 1 - low - first - last
						if inf < 0 {
							continue
						}
						d := law{[]float64{low}, []float64{low * ratio}}
						for range small {
							d.p, d.q = append(d.p, first/small), append(d.q, first/small*level*1.03)
						}
						d.p, d.q = append(d.p, last, inf), append(d.q, last*level, 0)
						o := d.ordering(k)
						for f := 0.05; f < 1; f += 0.05 {
							// Where the first part of the last cell ends, the cell below is worth placing at once.
							u, g := first+f*last, (first*1.03+f*last)*level
							c := math.Exp(u-g) / level * math.Expm1(low) / math.Expm1(low*ratio)
							value := phi(u) - phi(0) - c*(phi(g)-phi(0))
							u, g = u+low, g+low*ratio
							rest := (1 - f) * last
							value += phi(u+rest) - phi(u) - c*(phi(g+rest*level)-phi(g)) + phi(1) - phi(1-inf)
							comparisons++
							if bound := o.at(c); bound < value*(1-orderError) {
								t.Errorf("%v of the last cell, then %v at q/p = %v, c %v: %v, bound %v", f, low, ratio, c, value, bound)
							}
						}
					}
				}
			}
		}
	}
	if comparisons < 1000 {
		t.Errorf("%d comparisons", comparisons)
	}
}
