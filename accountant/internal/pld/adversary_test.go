package pld

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"sort"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/accountant/internal/repetitions"
)

// This file builds the mechanisms of the search in adversary_search_test.go: the exact law of a small mechanism beside
// the pair that should dominate it. The exact side shares nothing with the package but the parameters of the
// mechanisms. It only adds, multiplies and divides positive numbers and takes expm1, log1p, log and exp, so that every
// mass, however small, has a relative error below 1e-12 (TestAdversaryLaws).

// A law holds the probabilities p of outcomes with a sample and q without it.
type law struct{ p, q []float64 }

func (l *law) add(p, q float64) {
	if p > 0 || q > 0 {
		l.p, l.q = append(l.p, p), append(l.q, q)
	}
}

// hockey is the sum of (p - e^epsilon q)_+. The errors of masses that nearly cancel are like an error of epsilon.
func hockey(p, q []float64, epsilon float64) float64 {
	total, level := 0.0, math.Exp(epsilon)
	for i := range p {
		if d := p[i] - level*q[i]; d > 0 {
			total += d
		}
	}
	return total
}

// then is the joint law of the outcomes of l and of the follower.
func (l law) then(follower func(i int) law) law {
	var out law
	for i := range l.p {
		f := follower(i)
		for j := range f.p {
			out.add(l.p[i]*f.p[j], l.q[i]*f.q[j])
		}
	}
	return out
}

func always(l law) func(int) law { return func(int) law { return l } }

// subsetThen is variant 1: the sample goes to l with probability rate, and otherwise to the follower.
func (l law) subsetThen(rate float64, follower func(i int) law) law {
	var out law
	for i := range l.p {
		f := follower(i)
		for j := range f.p {
			out.add(rate*l.p[i]*f.q[j]+(1-rate)*l.q[i]*f.p[j], l.q[i]*f.q[j])
		}
	}
	return out
}

// sampled gives the sample to l with probability rate.
func (l law) sampled(rate float64) law {
	nothing := law{p: []float64{1}, q: []float64{1}}
	return nothing.subsetThen(1-rate, always(l))
}

// best is the law of the best of K runs: higher scores first, and equal ones by a random tag that is not released.
func (l law) best(k repetitions.Distribution, score []int) law {
	order := make([]int, len(score))
	for i := range order {
		order[i] = i
	}
	sort.Slice(order, func(a, b int) bool { return score[order[a]] > score[order[b]] })
	var out law
	var aboveP, aboveQ float64
	for from := 0; from < len(order); {
		to, p, q := from, 0.0, 0.0
		for ; to < len(order) && score[order[to]] == score[order[from]]; to++ {
			p, q = p+l.p[order[to]], q+l.q[order[to]]
		}
		shareP, shareQ := share(k, aboveP, p), share(k, aboveQ, q)
		for _, i := range order[from:to] {
			out.add(l.p[i]*shareP, l.q[i]*shareQ)
		}
		aboveP, aboveQ, from = aboveP+p, aboveQ+q, to
	}
	out.add(none(k), none(k))
	return out
}

// none is P(K = 0).
func none(k repetitions.Distribution) float64 {
	switch k := k.(type) {
	case repetitions.Poisson:
		return math.Exp(-k.Mean)
	case repetitions.Binomial:
		return math.Pow(1-k.Probability, float64(k.Trials))
	}
	return 0
}

// share is (phi(1-above) - phi(1-above-mass))/mass with phi(z) = E z^K: the probability that the best of K runs falls
// into a class of outcomes of equal scores, for each unit of its mass.
func share(k repetitions.Distribution, above, mass float64) float64 {
	if mass == 0 {
		return 0
	}
	switch k := k.(type) {
	case repetitions.Poisson:
		return math.Exp(-k.Mean*above) * -math.Expm1(-k.Mean*mass) / mass
	case repetitions.TruncatedPoisson:
		return math.Exp(-k.Rate*above) * (math.Expm1(-k.Rate*mass) / math.Expm1(-k.Rate)) / mass
	case repetitions.NegativeBinomial:
		// phi is a linear function of x^-Shape, or of log x for Shape 0, at x = 1 - (1-Success) z.
		if k.Success == 1 {
			return 1
		}
		x := k.Success + (1-k.Success)*above
		rise := math.Log1p((1 - k.Success) * mass / x) // of log x
		if k.Shape == 0 {
			return rise / -math.Log(k.Success) / mass
		}
		fall := math.Expm1(-k.Shape*rise) / math.Expm1(k.Shape*math.Log(k.Success))
		return math.Exp(-k.Shape*math.Log(x/k.Success)) * fall / mass
	case repetitions.Binomial:
		x, n := 1-k.Probability*above, float64(k.Trials)
		if x <= 0 {
			return 0
		}
		return math.Exp(n*math.Log(x)) * -math.Expm1(n*math.Log1p(-math.Min(1, k.Probability*mass/x))) / mass
	}
	panic("unknown repetitions")
}

// TestAdversaryLaws checks best's closed form against a sum over K, with 300 bits and recursive probabilities of K.
func TestAdversaryLaws(t *testing.T) {
	number := func(x float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(x) }
	r := rand.New(rand.NewPCG(1, 1))
	for i := range 32 {
		g := &genes{dice: &dice{fresh: r}, soft: &dice{fresh: r}, step: 0.5}
		var l law
		for i, m := 0, g.mechanism().laws[0]; i < len(m.p); i++ {
			l.add(m.p[i], m.q[i])
		}
		trials := 1 + g.below(30)
		shape, success, mean := g.within(-0.9, 5), g.within(0.1, 1), g.logWithin(0.05, 20)
		k := []repetitions.Distribution{repetitions.NegativeBinomial{Shape: shape, Success: success}, repetitions.Poisson{Mean: mean}, repetitions.TruncatedPoisson{Rate: mean}, repetitions.Binomial{Trials: trials, Probability: 0.99 * success}}[i%4]
		ratio := func(n float64) float64 { return mean / (n + 1) } // of P(K = n+1) to P(K = n)
		switch i % 4 {
		case 0:
			ratio = func(n float64) float64 { return (1 - success) * (n + shape) / (n + 1) }
		case 3:
			ratio = func(n float64) float64 {
				return (float64(trials) - n) / (n + 1) * 0.99 * success / (1 - 0.99*success)
			}
		}
		got, atMost := l.best(k, []int{-0, -1, -2, -3, -4}[:len(l.p)]), number(1)
		for j, p := range l.p {
			// Outcome j is the best of n runs if all outcomes are at most j and not all are less: atMost^n - less^n.
			less := number(0).Sub(atMost, number(p))
			high, low := number(1), number(1)
			weight, total, best := number(1), number(0), number(0)
			for n := range 600 {
				switch {
				case n > 0 || i%2 == 1:
					total.Add(total, weight)
					best.Add(best, number(0).Mul(weight, number(0).Sub(high, low)))
					fallthrough
				case i%4 == 2: // nothing at 0, but the recursion begins there
					weight.Mul(weight, number(ratio(float64(n))))
				}
				high, low = number(0).Mul(high, atMost), number(0).Mul(low, less)
			}
			if want, _ := best.Quo(best, total).Float64(); math.Abs(got.p[j]-want) > 1e-12*want {
				t.Errorf("%#v, outcome %d of %v: probability %v, want %v", k, j, l.p, got.p[j], want)
			}
			atMost = less
		}
	}
}

// dice are numbers in [0, 1) that a search can change little by little, and new ones beyond those.
type dice struct {
	values []float64
	next   int
	fresh  *rand.Rand
}

func (d *dice) unit() float64 {
	if d.next == len(d.values) {
		d.values = append(d.values, d.fresh.Float64())
	}
	d.next++
	return d.values[d.next-1]
}

func (d *dice) below(n int) int { return min(n-1, int(float64(n)*d.unit())) }

func (d *dice) within(low, high float64) float64 { return low + (high-low)*d.unit() }

func (d *dice) logWithin(low, high float64) float64 {
	return math.Exp(d.within(math.Log(low), math.Log(high)))
}

// probability comes near 0 and 1.
func (d *dice) probability() float64 { return 1 / (1 + math.Exp(d.within(-7, 7))) }

// genes decode a plan. The parameters of the bound come from the embedded dice. The adversary's free choices come from
// soft: orders, post-processing and followers of an outcome. Every function throws the same number of dice for any
// result, as far as it can.
type genes struct {
	*dice
	soft     *dice
	step     float64 // of the grid
	mostRuns float64 // the largest mean of K
	// A plain plan has no infinite losses and a larger mean of K: with either, bounds are tight too easily.
	plain     bool
	plainRuns float64 // the least mean then
	pairs     []*Pair // the pairs of the plan so far, of which known are from a plan that differs in soft only
	known     []*Pair
	err       error // the package refused
	notes     *strings.Builder
}

func (g *genes) note(format string, args ...any) {
	if g.notes != nil {
		fmt.Fprintf(g.notes, format+"\n", args...)
	}
}

// pair returns the known pair, or calls compute. After an error it computes nothing.
func (g *genes) pair(compute func() (*Pair, error)) *Pair {
	i := len(g.pairs)
	var d *Pair
	if i < len(g.known) {
		d = g.known[i]
	} else if g.err == nil {
		d, g.err = compute()
	}
	g.pairs = append(g.pairs, d)
	return d
}

// maxOutcomes is the largest number of outcomes of a mechanism.
const maxOutcomes = 5

// mechanism decodes a mechanism of 2 to 5 outcomes, with losses on or off the grid, infinite ones and outcomes without
// probability among them, and one of its post-processings.
func (g *genes) mechanism() dominated {
	n := 2 + g.below(maxOutcomes-1)
	depth := 56 * math.Pow(g.unit(), 2)                                      // of log masses
	reach := math.Min(math.Floor(g.logWithin(1, 60)), math.Floor(20/g.step)) // of losses, in steps
	offGrid, infinite, flip := g.unit() < 0.3, !g.plain && g.unit() < 0.5, g.unit() < 0.5
	loss, mass := make([]float64, n), make([]float64, n)
	var up, down float64 // by how much P exceeds Q at positive losses, and Q exceeds P at the others
	for i := range maxOutcomes {
		w, x, special := math.Exp(-depth*g.unit()), g.within(-reach, reach), g.below(16)
		if i >= n {
			continue
		}
		if !offGrid {
			x = math.Round(x)
		}
		switch {
		case i == 0: // one of each sign, the negative one finite
			x = math.Max(1, math.Abs(x))
		case i == 1:
			x = math.Min(-1, -math.Abs(x))
		case special == 0:
			w = 0
		case special < 3:
			x = 0
		}
		if infinite && special > 10 && i != 1 {
			x = math.Inf(1 - 2*(special%2)*min(i, 1))
		}
		loss[i], mass[i] = x*g.step, w
		switch {
		case math.IsInf(x, 1):
			up += w
		case x > 0:
			up += w * math.Expm1(loss[i])
		default:
			down -= w * math.Expm1(loss[i])
		}
	}
	// Weight those with positive losses so that P and Q have the same total.
	l := law{p: make([]float64, n), q: make([]float64, n)}
	for i, w := range mass {
		if loss[i] > 0 {
			w *= down / up
		}
		if l.p[i], l.q[i] = w, 0; !math.IsInf(loss[i], 1) {
			l.p[i], l.q[i] = w*math.Exp(loss[i]), w
		}
	}
	if flip {
		l.p, l.q = l.q, l.p
	}
	normalise(l.p)
	normalise(l.q)
	g.note("mechanism: p %v, q %v", l.p, l.q)
	bound := g.pair(func() (*Pair, error) { return l.pair(g.step), nil })
	return dominated{laws: []law{l, g.processed(l)}, bound: bound}
}

// processed sends every outcome to one of two labels at random: outcomes merge, and may be told apart in part only.
func (g *genes) processed(l law) law {
	out := law{p: make([]float64, maxOutcomes), q: make([]float64, maxOutcomes)}
	for i := range maxOutcomes {
		a, b, s := g.soft.below(maxOutcomes), g.soft.below(maxOutcomes), math.Max(0, math.Min(g.soft.within(-0.5, 1.5), 1))
		if i < len(l.p) {
			out.p[a], out.q[a] = out.p[a]+s*l.p[i], out.q[a]+s*l.q[i]
			out.p[b], out.q[b] = out.p[b]+(1-s)*l.p[i], out.q[b]+(1-s)*l.q[i]
		}
	}
	g.note("processed: p %v, q %v", out.p, out.q)
	return out
}

// repetitions decodes a distribution of K.
func (g *genes) repetitions(mostRuns float64) repetitions.Distribution {
	mostRuns = math.Min(mostRuns, g.mostRuns)
	kind, shape, rate, mean := g.below(8), g.within(-0.9, 5), 0.05, 1.0
	if g.plain {
		rate, mean = g.plainRuns, g.plainRuns
	}
	rate, mean = g.logWithin(rate, mostRuns), g.logWithin(mean, math.Min(mostRuns, 100))
	switch kind {
	case 0:
		shape = math.Round(shape) // 0, the logarithmic distribution, and 1, the geometric one, among them
	case 1:
		if !g.plain {
			mean = 1
		}
	}
	var k repetitions.Distribution = repetitions.Poisson{Mean: rate}
	if kind < 4 {
		var err error
		if k, err = negativeBinomial(shape, mean); err != nil {
			g.err = err
		}
	} else if kind == 4 {
		k = repetitions.TruncatedPoisson{Rate: rate}
	}
	g.note("repetitions: %#v", k)
	return k
}

// follower decodes an adaptive choice among laws, by the outcome that came before.
func (g *genes) follower(laws []law) func(i int) law {
	var choices [4]int
	adaptive := g.soft.unit() < 0.5
	for i := range choices {
		if c := g.soft.below(len(laws)); adaptive {
			choices[i] = c
		}
	}
	g.note("what follows outcome i: law %v[i mod %d]", choices, len(choices))
	return func(i int) law { return laws[choices[i%len(choices)]] }
}

// mixture decodes a law: one of those given, or a public random choice among them.
func (g *genes) mixture(laws []law) law {
	kind, member, total := g.soft.below(4), g.soft.below(len(laws)), 0.0
	weights := make([]float64, len(laws))
	for i := range weights {
		weights[i] = g.soft.logWithin(1e-3, 1)
		total += weights[i]
	}
	switch kind {
	case 0, 1:
		return laws[0]
	case 2:
		g.note("law %d", member)
		return laws[member]
	}
	var choice law
	for _, w := range weights {
		choice.add(w/total, w/total)
	}
	g.note("a random choice by %v", choice.p)
	return choice.then(func(i int) law { return laws[i] })
}

// scores decodes an order with ties: any at all, or one that grows an interval of losses (docs/proofs/bounds.md,
// Theorem 1), the worst kind for each divergence.
func (g *genes) scores(l law) []int {
	const segments = 12
	grow, levels, start, tie := g.soft.unit() < 0.7, 2+g.soft.below(5), g.soft.unit(), 1+g.soft.below(8)/7
	var x [segments]float64
	for i := range x {
		x[i] = g.soft.unit()
	}
	n := len(l.p)
	score, byLoss := make([]int, n), make([]int, n)
	for i := range score {
		score[i], byLoss[i] = int(float64(levels)*x[i%segments]), i
	}
	if grow {
		sort.Slice(byLoss, func(a, b int) bool { return l.p[byLoss[a]]*l.q[byLoss[b]] < l.p[byLoss[b]]*l.q[byLoss[a]] })
		low := min(n, int(start*float64(n+1)))
		high := low
		for place := range n {
			if low == 0 || high < n && x[place*segments/n] < 0.5 {
				score[byLoss[high]] = place / tie
				high++
			} else {
				low--
				score[byLoss[low]] = place / tie
			}
		}
	}
	g.note("scores %v", score)
	return score
}
