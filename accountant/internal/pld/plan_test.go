package pld

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dptrain/dptrain/accountant/internal/repetitions"
	"github.com/dptrain/dptrain/internal/long"
)

func drawLaws(r *rand.Rand, n int, spread float64) (d law) {
	for range n {
		p := math.Exp(-3 * r.Float64())
		d.p, d.q = append(d.p, p), append(d.q, p*math.Exp(spread*(2*r.Float64()-1)))
	}
	for _, x := range [][]float64{d.p, d.q} { // outcomes that only one of them has
		if r.IntN(3) == 0 {
			x[r.IntN(n)] = 0
		}
	}
	if d.p[0]+d.p[1] == 0 || d.q[0]+d.q[1] == 0 || n == 2 && d.p[0]*d.q[0]+d.p[1]*d.q[1] == 0 {
		return drawLaws(r, n, spread)
	}
	normalise(d.p)
	normalise(d.q)
	return d
}

// gaussianLike is a final run with many outcomes: N(s, 1) against N(0, 1), cut into cells.
func gaussianLike(s float64, n int) (d law) {
	for i := range n {
		x := (float64(i)+0.5)/float64(n)*12 - 6
		d.p, d.q = append(d.p, math.Exp(-(x-s)*(x-s)/2)), append(d.q, math.Exp(-x*x/2))
	}
	normalise(d.p)
	normalise(d.q)
	return d
}

// worst returns the largest divergences of a whole plan over all orders of the trial's outcomes.
func (l law) worst(k repetitions.Distribution, epsilon float64, plan func(best law) law) (remove, add float64) {
	permutations(len(l.p), func(score []int) {
		exact := plan(l.best(k, score))
		remove, add = math.Max(remove, hockey(exact.p, exact.q, epsilon)), math.Max(add, hockey(exact.q, exact.p, epsilon))
	})
	return remove, add
}

// checkPlan compares a plan's bounds with one order to the largest divergences, and reports how many were large enough.
func checkPlan(t *testing.T, what string, trial *Pair, k repetitions.Distribution, epsilon float64, removal, addition terms, remove, add float64) (compared int) {
	t.Helper()
	tuned, err := bestOfCells(trial, k, 64)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		bound oneOrder
		exact float64
	}{
		{oneOrder{removal, tuned.removal, ready(newWholeOrder(trial.removal, k, 64)), k.None()}, remove},
		{oneOrder{addition, tuned.addition, ready(newWholeOrder(trial.addition, k, 64)), k.None()}, add},
	} {
		if x.exact < 1e-9 {
			continue
		}
		compared++
		if got := x.bound.at(epsilon); !(got >= x.exact*(1-orderError)) {
			t.Errorf("%s, %#v, epsilon %v: the bound of %v is below %v", what, k, epsilon, got, x.exact)
		}
	}
	return compared
}

func permutations(n int, visit func(order []int)) {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	var rest func(k int)
	rest = func(k int) {
		if k == n {
			visit(order)
			return
		}
		for i := k; i < n; i++ {
			order[k], order[i] = order[i], order[k]
			rest(k + 1)
			order[k], order[i] = order[i], order[k]
		}
	}
	rest(0)
}

// TestNoOrderOfASmallPlanBeatsOneOrder evaluates whole plans in every order.
func TestNoOrderOfASmallPlanBeatsOneOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 1))
	const step = 0.05
	compared := 0
	for n := range 200 {
		trial, k, q := drawLaws(r, 2+r.IntN(4), 2*r.Float64()), drawK(t, r), math.Exp(-4*r.Float64())
		final := gaussianLike(1.5*r.Float64(), 40)
		if r.IntN(2) == 0 {
			final = drawLaws(r, 2+r.IntN(6), 2*r.Float64())
		}
		for i, variant := range []Variant{Variant1, Variant2} {
			epsilon := 3 * r.Float64() * r.Float64()
			if long.Leaves(n, 2) {
				continue
			}
			remove, add := trial.worst(k, epsilon, func(best law) law {
				if i == 0 {
					return best.subsetThen(q, always(final))
				}
				return best.sampled(q).then(always(final))
			})
			removal, addition := variant(final.pair(step), q)
			what := fmt.Sprintf("variant %d, %v, then %v, q %v", i+1, trial, final, q)
			compared += checkPlan(t, what, trial.pair(step), k, epsilon, removal, addition, remove, add)
		}
	}
	if compared < 300 && !testing.Short() || long.Tests() && compared < 400 {
		t.Errorf("%d comparisons", compared)
	}
}

// TestStatesOfOneOrder checks the bounds on phi1(F) and phi1(G), interpolated inside of every square, against their
// values.
func TestStatesOfOneOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(42, 1))
	closest := math.Inf(1)
	for range 300 {
		d, k := drawLossPair(r, 6).split(1+r.IntN(12)), drawK(t, r)
		o := d.wholeOrder(k)
		n := len(o.p)
		// The mass outside the cells: only P has it, or only Q.
		sumP, sumQ := make([]float64, n+1), make([]float64, n+1)
		for i := range n {
			sumP[i+1], sumQ[i+1] = sumP[i]+o.p[i], sumQ[i]+o.q[i]
		}
		for range 50 {
			j := r.IntN(n)
			i := r.IntN(j + 1)
			x, y := r.Float64(), r.Float64() // from (i, j)
			mean := func(of func(s orderState) float64) float64 {
				below := of(o.states[j][i])*(1-x) + of(o.states[j][i+1])*x
				above := of(o.states[j+1][i])*(1-x) + of(o.states[j+1][i+1])*x
				return below*(1-y) + above*y
			}
			f := sumP[j] + y*o.p[j] - sumP[i] - x*o.p[i]
			g := sumQ[j] + y*o.q[j] - sumQ[i] - x*o.q[i]
			f, g = math.Exp(k.LogSlope(1-f)), math.Exp(k.LogSlope(1-g))
			a, b := mean(func(s orderState) float64 { return s.a }), mean(func(s orderState) float64 { return s.b })
			if !(a >= f*(1-1e-12) && b <= g*(1+1e-12) && b >= 0) {
				t.Fatalf("%v, %#v at %d+%v, %d+%v: %v and %v for %v and %v", d, k, i, x, j, y, a, b, f, g)
			}
			closest = math.Min(closest, g/b)
		}
	}
	t.Logf("least g/b %v", closest)
}

// TestAllowancesOfPaths checks whole moves and their allowances against paths through parts of cells, where rates are
// bilinear: with R = 1 they are p phi1(F), and phi1 is arbitrary. It climbs to where the paths earn most.
func TestAllowancesOfPaths(t *testing.T) {
	r := rand.New(rand.NewPCG(43, 1))
	m := &mixture{pieces: []piece{{1, 0}, {1, 0}}, scale: 1}
	largest := 0.0
	for range 40 {
		n := 1 + r.IntN(3)
		values := make([]float64, n+(n+1)*(n+1))
		for i := range values {
			values[i] = r.Float64()
		}
		most := 0.0
		for range 600 {
			next := append([]float64(nil), values...)
			for more := true; more; more = r.IntN(2) == 0 {
				i := r.IntN(len(next))
				next[i] = math.Max(0, math.Min(next[i]+0.3*r.NormFloat64(), 1))
			}
			o := &wholeOrder{p: next[:n], q: make([]float64, n), states: make([][]orderState, n+1)}
			k := n
			for i := range n {
				o.q[i] = 1
			}
			for j := range o.states {
				for range min(j+1, n) + 1 {
					o.states[j] = append(o.states[j], orderState{a: next[k], b: 1})
					k++
				}
			}
			bound, best, whole := o.worst(m), o.bestPath(12), o.bestPath(1)
			if !(bound >= best*(1-1e-12)) {
				t.Fatalf("%+v: the bound of %v is below %v", o, bound, best)
			}
			if used := (best - whole) / (bound - whole); used >= most {
				values, most = next, used
			}
		}
		largest = math.Max(largest, most)
	}
	t.Logf("of the allowances a path used up to %v", largest)
}

// bestPath is the best path that cuts cells into parts, for R = 1. With one part it begins where the bound's paths do.
func (o *wholeOrder) bestPath(parts int) (best float64) {
	n := len(o.p)
	a := func(i, j int) float64 { // in parts of cells
		x, y := min(i/parts, n-1), min(j/parts, n-1)
		u, v := float64(i-x*parts)/float64(parts), float64(j-y*parts)/float64(parts)
		if parts == 1 {
			return o.states[j][i].a
		}
		s, t := o.states[y], o.states[y+1]
		return (s[x].a*(1-u)+s[x+1].a*u)*(1-v) + (t[x].a*(1-u)+t[x+1].a*u)*v
	}
	value := make([]float64, n*parts+1)
	for j := n * parts; j >= 0; j-- {
		for i := range min(j+1, n*parts) + 1 {
			v := 0.0
			if i > j && parts > 1 {
				break
			}
			if j < n*parts {
				v = value[i] + o.p[j/parts]*(a(i, j)+a(i, j+1))/2/float64(parts)
			}
			if i > 0 {
				v = math.Max(v, value[i-1]+o.p[(i-1)/parts]*(a(i, j)+a(i-1, j))/2/float64(parts))
			}
			value[i] = v
			best = math.Max(best, v)
		}
	}
	return best
}

// TestTermsOfVariants evaluates the terms for a tuning run of two outcomes, where losses of the final run are on the
// grid.
func TestTermsOfVariants(t *testing.T) {
	r := rand.New(rand.NewPCG(44, 1))
	const step = 0.5
	for range 2000 {
		// The final run: losses on the grid, and outcomes of only one law.
		var final law
		for l := -3; l <= 3; l++ {
			p := r.Float64() * r.Float64()
			final.p, final.q = append(final.p, p), append(final.q, p*math.Exp(-float64(l)*step))
		}
		sumP, sumQ := 0.0, 0.0
		for i := range final.p {
			sumP, sumQ = sumP+final.p[i], sumQ+final.q[i]
		}
		most := math.Max(sumP, sumQ) * (1 + r.Float64()*float64(r.IntN(2)))
		for i := range final.p {
			final.p[i], final.q[i] = final.p[i]/most, final.q[i]/most
		}
		final.p, final.q = append(final.p, 1-sumP/most, 0), append(final.q, 0, 1-sumQ/most)
		s1, s0 := r.Float64()*float64(r.IntN(4))/3, r.Float64()*float64(r.IntN(4))/3
		q, epsilon := 0.02+0.96*r.Float64(), 4*r.Float64()-1
		e := math.Exp(epsilon)
		pair := final.pair(step)
		for variant, v := range []Variant{Variant1, Variant2} {
			exactRemove, exactAdd := 0.0, 0.0
			for _, x := range []selected{{s1, s0}, {1 - s1, 1 - s0}} {
				for i, f1 := range final.p {
					f0 := final.q[i]
					with, without := (q*x.s1+(1-q)*x.s0)*f1, x.s0*f0
					if variant == 0 {
						with = q*x.s1*f0 + (1-q)*x.s0*f1
					}
					exactRemove, exactAdd = exactRemove+math.Max(0, with-e*without), exactAdd+math.Max(0, without-e*with)
				}
			}
			removal, addition := v(pair, q)
			sum := func(f terms, reversed bool) (total float64) {
				total += f(epsilon, func(m, alpha, beta float64) {
					for _, x := range []selected{{s1, s0}, {1 - s1, 1 - s0}} {
						if reversed {
							x.s1, x.s0 = x.s0, x.s1
						}
						total += m * math.Max(0, alpha*x.s1-beta*x.s0)
					}
				})
				return total
			}
			remove, add := sum(removal, false), sum(addition, true)
			if remove < exactRemove*(1-1e-12) || add < exactAdd*(1-1e-12) || remove > exactRemove+1e-6 || add > exactAdd+1e-6 {
				t.Fatalf("%+v, variant %d, epsilon %v, q %v, %v and %v: %v and %v for %v and %v", final,
					variant+1, epsilon, q, s1, s0, remove, add, exactRemove, exactAdd)
			}
		}
	}
}

func ready(o *wholeOrder) func() *wholeOrder { return func() *wholeOrder { return o } }
