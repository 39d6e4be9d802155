package pld

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dptrain/dptrain/accountant/internal/repetitions"
	"github.com/dptrain/dptrain/internal/long"
)

// An attackedPlan is a tuning run on a sample of rate q and a final run, with small laws in place of both. Orders of
// the trial's outcomes are tried one by one, each with the exact law of the whole plan.
type attackedPlan struct {
	trial, final law
	k            repetitions.Distribution
	q            float64
	kind         string
}

var planKinds = []string{"baseline", "variant 1", "variant 2"}

// exact is the law of the plan when the trial's outcomes have these scores.
func (s attackedPlan) exact(trial law, score []int) law {
	final := func(int) law { return s.final }
	best := trial.best(s.k, score)
	switch s.kind {
	case "variant 1":
		return best.subsetThen(s.q, final)
	case "variant 2":
		return best.sampled(s.q).then(final)
	}
	return best
}

// intervalOrders calls visit with the scores of every order that grows an interval: 2^(n-1) of them.
func intervalOrders(n int, visit func(score []int)) {
	for ups := range 1 << (n - 1) {
		low := 0
		for i := range n - 1 {
			low += 1 - ups>>i&1
		}
		score, high := make([]int, n), low+1
		for i := range n - 1 {
			if ups>>i&1 == 1 {
				score[high] = i + 1
				high++
			} else {
				low--
				score[low] = i + 1
			}
		}
		visit(score)
	}
}

// attained returns the worst order that the package finds, for these laws exactly.
func (s attackedPlan) attained() *WorstOrder {
	finalP, finalQ, q := s.final.p, s.final.q, s.q
	if s.kind == "baseline" {
		finalP, finalQ, q = []float64{1}, []float64{1}, 1
	}
	trial := s.trial.split(240 / len(s.trial.p))
	o := orderOf(trial.p, trial.q, finalP, finalQ, s.k, 40, q, s.kind == "variant 1", false)
	return &WorstOrder{o, o}
}

// fine is the largest divergence over the orders that grow an interval of pieces of equal masses, by the definition,
// with the final run's outcomes one by one.
func (s attackedPlan) fine(pieces int, epsilon float64) (with, without float64) {
	trial := s.trial.split(pieces)
	x := math.Exp(epsilon)
	value := func(s1, s0 float64) (a, b float64) {
		if s.kind == "baseline" {
			return math.Max(0, s1-x*s0), math.Max(0, s0-x*s1)
		}
		for z, f := range s.final.p {
			g := s.final.q[z]
			p, q := (s.q*s1+(1-s.q)*s0)*f, s0*g
			if s.kind == "variant 1" {
				p = s.q*s1*g + (1-s.q)*s0*f
			}
			a, b = a+math.Max(0, p-x*q), b+math.Max(0, q-x*p)
		}
		return a, b
	}
	table := trial.intervals(s.k).tabulated()
	with = table.best(func(s1, s0 float64) float64 { a, _ := value(s1, s0); return a })
	without = table.best(func(s1, s0 float64) float64 { _, b := value(s1, s0); return b })
	a, b := value(none(s.k), none(s.k))
	return with + a, without + b
}

// drawSmallLaw has outcomes by ascending loss.
func drawSmallLaw(r *rand.Rand, most int, spread float64) law {
	n := 2 + r.IntN(most-1)
	var d law
	for range n {
		q := math.Exp(-4 * r.Float64())
		d.p, d.q = append(d.p, q*math.Exp(spread*(2*r.Float64()-1))), append(d.q, q)
	}
	normalise(d.p)
	normalise(d.q)
	sortByLoss(d)
	return d
}

// TestAttainedOfSmallPlans checks attained against every order that grows an interval of few pieces, each order with
// the exact law of the whole plan, and against orders of many pieces from both sides.
func TestAttainedOfSmallPlans(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 1))
	orders, either := 0, [2]int{}
	for i := range 45 {
		s := attackedPlan{kind: planKinds[i%3], q: []float64{0.02, 0.1, 0.4, 0.8}[r.IntN(4)], trial: drawSmallLaw(r, 4, 2), final: drawSmallLaw(r, 4, 1)}
		s.k = []repetitions.Distribution{repetitions.Poisson{Mean: 0.5}, repetitions.Poisson{Mean: 3}, repetitions.Poisson{Mean: 20}, repetitions.TruncatedPoisson{Rate: 8}, repetitions.NegativeBinomial{Shape: 1, Success: 0.1}, repetitions.NegativeBinomial{Shape: 0, Success: 0.05}, repetitions.NegativeBinomial{Shape: -0.5, Success: 0.2}, repetitions.Binomial{Trials: 9, Probability: 0.6}, repetitions.Binomial{Trials: 4, Probability: 1}}[r.IntN(9)]
		if long.Leaves(i, 2) {
			continue
		}
		p := s.attained()
		pieces := 8 / len(s.trial.p)
		trial := s.trial.split(pieces)
		for _, epsilon := range []float64{0.1, 0.4, 1.5} {
			got := p.DeltaAt(epsilon)
			with, without := s.fine(240/len(s.trial.p), epsilon)
			want := math.Max(with, without)
			if want < 1e-4 {
				continue
			}
			if with > without {
				either[0]++
			} else {
				either[1]++
			}
			// The grid's masses spread to higher losses, and its pieces are finer.
			if got < want*(1-5e-3) || got > want*(1+2e-2) {
				t.Errorf("%+v, epsilon %v: %v, and of few pieces %v and %v", s, epsilon, got, with, without)
			}
			if epsilon != 0.4 {
				continue
			}
			intervalOrders(len(trial.p), func(score []int) {
				orders++
				l := s.exact(trial, score)
				if exact := math.Max(hockey(l.p, l.q, epsilon), hockey(l.q, l.p, epsilon)); exact > got*(1+1e-6) {
					t.Errorf("%+v, epsilon %v: %v, but scores %v have %v", s, epsilon, got, score, exact)
				}
			})
		}
	}
	t.Logf("%d orders; the direction with the sample is the larger %d times, the other %d times", orders, either[0], either[1])
	if !testing.Short() && (orders < 500 || either[0] < 10 || either[1] < 10) {
		t.Error("too few comparisons")
	}
}
