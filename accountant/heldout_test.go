package accountant_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/dptrain/dptrain/accountant"
	"pgregory.net/rapid"
)

// A tinyTuning is a small model of selection on held-out samples: samples and models are 0 or 1, and all laws are
// finite, so the law of its releases can be added up. It shares no code with the accountant.
//
// A trial on D releases the majority of D, or the other model, with probability lie. Its score is the sum of the
// held-out samples' counts for the model, plus noise. The best trial wins, and the first of equal ones. The final run
// on D releases the majority of D if the winner is 0, and the other model if it is 1; with probability finalLie it
// releases the opposite. The last count is the held-out samples' sum for that model, plus noise.
type tinyTuning struct {
	holdout       float64
	lie, finalLie float64
	scores, last  [3]float64    // the laws of noise -1, 0 and 1, symmetric
	counts        [2][2]float64 // a sample's count, by its value and the model: -1, 0 or 1
	trials        []float64     // the law of K, from 0 on
}

// law returns the probabilities of the releases: the winner or none, the final model and the last count.
func (m tinyTuning) law(samples []int) map[string]float64 {
	law := map[string]float64{}
	for split := range 1 << len(samples) {
		weight := 1.0
		var held, rest []int
		for i, s := range samples {
			if split>>i&1 == 1 {
				held, weight = append(held, s), weight*m.holdout
			} else {
				rest, weight = append(rest, s), weight*(1-m.holdout)
			}
		}
		for winner, p := range m.winners(held, rest) {
			for final, p2 := range m.model(rest, m.finalLie) {
				final := (final + max(winner, 0)) % 2
				for noise, p3 := range m.last {
					law[fmt.Sprint(winner, final, m.count(held, final)+float64(noise-1))] += weight * p * p2 * p3
				}
			}
		}
	}
	return law
}

// model returns the law of a run's model.
func (m tinyTuning) model(samples []int, lie float64) [2]float64 {
	ones := 0
	for _, s := range samples {
		ones += s
	}
	switch {
	case 2*ones == len(samples):
		return [2]float64{0.5, 0.5}
	case 2*ones > len(samples):
		return [2]float64{lie, 1 - lie}
	}
	return [2]float64{1 - lie, lie}
}

func (m tinyTuning) count(held []int, model int) float64 {
	sum := 0.0
	for _, s := range held {
		sum += m.counts[s][model]
	}
	return sum
}

// winners returns the law of the best trial's model, -1 for none, by all sequences of trials.
func (m tinyTuning) winners(held, rest []int) map[int]float64 {
	law := map[int]float64{}
	models := m.model(rest, m.lie)
	var next func(left, winner int, best, p float64)
	next = func(left, winner int, best, p float64) {
		if left == 0 {
			law[winner] += p
			return
		}
		for model, p1 := range models {
			for noise, p2 := range m.scores {
				w, b := winner, best
				if score := m.count(held, model) + float64(noise-1); score > best {
					w, b = model, score
				}
				next(left-1, w, b, p*p1*p2)
			}
		}
	}
	for k, p := range m.trials {
		next(k, -1, math.Inf(-1), p)
	}
	return law
}

// hockeyStick returns the divergence of p from q at x = e^epsilon.
func hockeyStick(p, q map[string]float64, x float64) float64 {
	sum := 0.0
	for outcome, v := range p {
		sum += math.Max(0, v-x*q[outcome])
	}
	return sum
}

// A pair holds the masses of a mechanism's outcomes with and without a sample.
type pair [][2]float64

func (p pair) reversed() pair {
	var out pair
	for _, o := range p {
		out = append(out, [2]float64{o[1], o[0]})
	}
	return out
}

// shifted is the pair of a count with noise of the given law, which one sample moves by 1.
func shifted(noise [3]float64) pair {
	return pair{{0, noise[0]}, {noise[0], noise[1]}, {noise[1], noise[2]}, {noise[2], 0}}
}

// selected bounds the cost at x = e^epsilon of the best of K outcomes of trial, by any order of outcomes and random
// tags, followed by an outcome of last.
func selected(trial, last pair, trials []float64, x float64) float64 {
	sum := 0.0
	for _, o := range last {
		if o[0] > 0 {
			sum += o[0] * worstOrder(trial, trials, x*o[1]/o[0])
			sum += trials[0] * math.Max(0, o[0]-x*o[1])
		}
	}
	return sum
}

// worstOrder bounds the integral of (s1 - c s0)+ over all orders, s1 and s0 the densities of the selected outcome: by
// Theorem 1 of docs/proofs/bounds.md the worst order grows an interval of losses, and only losses added above count.
// Outcomes are cut into cells. While the interval's ends are in the square of cells (i, j), losses added above count at
// their maximum in the square.
func worstOrder(trial pair, trials []float64, c float64) float64 {
	slope := func(z float64) float64 { // of E z^K
		sum := 0.0
		for k, p := range trials {
			if k > 0 {
				sum += p * float64(k) * math.Pow(z, float64(k-1))
			}
		}
		return sum
	}
	const cells = 24
	var cut pair
	ordered := append(pair(nil), trial...)
	for i := range ordered { // ascending loss
		for j := i; j > 0 && ordered[j][0]*ordered[j-1][1] < ordered[j-1][0]*ordered[j][1]; j-- {
			ordered[j], ordered[j-1] = ordered[j-1], ordered[j]
		}
	}
	for _, o := range ordered {
		for range cells {
			cut = append(cut, [2]float64{o[0] / cells, o[1] / cells})
		}
	}
	n := len(cut)
	mass := func(side, from, to int) float64 {
		sum := 0.0
		for k := from; k < to; k++ {
			sum += cut[k][side]
		}
		return sum
	}
	best := 0.0
	above := make([]float64, n+1) // of row j+1, by i
	for j := n - 1; j >= 0; j-- {
		row := make([]float64, n+1)
		u, g := mass(0, 0, j+1), mass(1, 1, j)
		for i := 0; i <= j; i++ {
			r := cut[j][0]*slope(math.Min(1, u)) - c*cut[j][1]*slope(math.Max(0, g))
			row[i] = math.Max(0, r) + above[i]
			if i > 0 {
				row[i] = math.Max(row[i], row[i-1])
			}
			u -= cut[i][0]
			if i+1 < j {
				g -= cut[i+1][1]
			}
		}
		best, above = math.Max(best, row[j]), row
	}
	return best
}

// runs bounds the cost of a sample that is trained on, for any other samples and any of them held out.
func (m tinyTuning) runs(samples []int, added int, reverse bool, x float64) float64 {
	most := 0.0
	for split := range 1 << len(samples) {
		var rest []int
		for i, s := range samples {
			if split>>i&1 == 0 {
				rest = append(rest, s)
			}
		}
		with := append(append([]int(nil), rest...), added)
		var trial, final pair
		for w := range 2 {
			trial = append(trial, [2]float64{m.model(with, m.lie)[w], m.model(rest, m.lie)[w]})
			final = append(final, [2]float64{m.model(with, m.finalLie)[w], m.model(rest, m.finalLie)[w]})
		}
		if reverse {
			trial, final = trial.reversed(), final.reversed()
		}
		most = math.Max(most, selected(trial, final, m.trials, x))
	}
	return most
}

// heldOut bounds the cost of a held-out sample.
func (m tinyTuning) heldOut(reverse bool, x float64) float64 {
	scores, last := shifted(m.scores), shifted(m.last)
	if reverse {
		scores, last = scores.reversed(), last.reversed()
	}
	return selected(scores, last, m.trials, x)
}

// costs returns the true divergence and the bounds of docs/proofs/held-out.md.
func (m tinyTuning) costs(samples []int, added int, reverse bool, epsilon float64) (truth, runs, heldOut float64) {
	x := math.Exp(epsilon)
	p, q := m.law(append(append([]int(nil), samples...), added)), m.law(samples)
	if reverse {
		p, q = q, p
	}
	return hockeyStick(p, q, x), m.runs(samples, added, reverse, x), m.heldOut(reverse, x)
}

// Selecting on held-out samples costs no more than the costlier of training and scoring alone, and no more than their
// average by the probabilities.
func TestHeldOutSamplesCostNoMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		noise := func(name string) [3]float64 {
			v := rapid.Float64Range(0.05, 0.45).Draw(t, name)
			return [3]float64{v, 1 - 2*v, v}
		}
		m := tinyTuning{
			holdout: rapid.Float64Range(0.05, 0.95).Draw(t, "holdout"),
			lie:     rapid.Float64Range(0.05, 0.5).Draw(t, "lie"), finalLie: rapid.Float64Range(0.05, 0.5).Draw(t, "final lie"),
			scores: noise("noise of scores"), last: noise("last noise"),
		}
		for s := range m.counts {
			for w := range m.counts[s] {
				m.counts[s][w] = float64(rapid.IntRange(-1, 1).Draw(t, "count"))
			}
		}
		if rapid.Bool().Draw(t, "fixed") {
			m.trials = make([]float64, rapid.IntRange(1, 3).Draw(t, "trials")+1)
			m.trials[len(m.trials)-1] = 1
		} else {
			total := 0.0
			for range 4 {
				m.trials = append(m.trials, rapid.Float64Range(0.01, 1).Draw(t, "probability"))
				total += m.trials[len(m.trials)-1]
			}
			for k := range m.trials {
				m.trials[k] /= total
			}
		}
		samples := rapid.SliceOfN(rapid.IntRange(0, 1), 0, 2).Draw(t, "samples")
		added := rapid.IntRange(0, 1).Draw(t, "added")
		epsilon := rapid.Float64Range(-0.5, 2).Draw(t, "epsilon")
		for _, reverse := range []bool{false, true} {
			truth, runs, heldOut := m.costs(samples, added, reverse, epsilon)
			if bound := m.holdout*heldOut + (1-m.holdout)*runs; truth > bound+1e-12 || bound > math.Max(runs, heldOut)+1e-12 {
				t.Fatalf("reversed %v: delta %v, bounds %v and %v, together %v", reverse, truth, runs, heldOut, bound)
			}
		}
	})
}

// Neither training alone nor scoring alone bounds the cost: each is exceeded where the other costs much.
func TestHeldOutSamplesNeedBothBounds(t *testing.T) {
	exact := [3]float64{0.05, 0.9, 0.05}
	blind := [3]float64{1. / 3, 1. / 3, 1. / 3}
	counts := [2][2]float64{{1, -1}, {-1, 1}}
	oneTrial := []float64{0, 1}
	for _, c := range []struct {
		name string
		m    tinyTuning
		low  func(runs, heldOut float64) float64 // a bound that is too low
	}{
		{"runs learn nothing", tinyTuning{0.9, 0.5, 0.5, exact, exact, counts, oneTrial}, func(runs, _ float64) float64 { return runs }},
		{"runs learn much", tinyTuning{0.02, 0.01, 0.01, blind, blind, counts, oneTrial}, func(_, heldOut float64) float64 { return heldOut }},
	} {
		truth, runs, heldOut := c.m.costs([]int{0, 1}, 1, true, 0.7)
		if low := c.low(runs, heldOut); !(truth > low) {
			t.Errorf("%s: delta %v isn't above %v", c.name, truth, low)
		}
		if high := math.Max(runs, heldOut); truth > high || truth < high/2 {
			t.Errorf("%s: delta %v and bound %v", c.name, truth, high)
		}
	}
}

// The event of held-out samples charges more than the truth by numeric integration. Trials draw one of two models,
// whose scores a sample moves in opposite directions, and a last score follows. The truth is up to about 0.7 of the
// charge: two models reveal less than the scores, which are charged.
func TestHeldOutEventBoundsGaussianScores(t *testing.T) {
	normal := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	for _, c := range []struct {
		sigma  float64
		trials accountant.Repetitions
		slope  func(z float64) float64 // of E z^K
		none   float64                 // P(K = 0)
	}{
		{1.5, accountant.Fixed{Trials: 1}, func(float64) float64 { return 1 }, 0},
		{1.5, accountant.Fixed{Trials: 2}, func(z float64) float64 { return 2 * z }, 0},
		{2.5, accountant.Fixed{Trials: 3}, func(z float64) float64 { return 3 * z * z }, 0},
		{2.5, accountant.Poisson{Mean: 4}, func(z float64) float64 { return 4 * math.Exp(4*(z-1)) }, math.Exp(-4)},
	} {
		// The probability that model 1 wins, if models 0 and 1 have these sums and are as likely.
		wins := func(sums [2]float64) float64 {
			const width, steps = 12, 3000
			deviation, total := c.sigma/2, 0.0
			for i := range steps {
				s := (2*(float64(i)+0.5)/steps - 1) * width * deviation
				below := (normal((s-sums[0])/deviation) + normal((s-sums[1])/deviation)) / 2
				z := (s - sums[1]) / deviation
				total += math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) / 2 * c.slope(below) * 2 * width / steps
			}
			return total
		}
		score := accountant.Gaussian{NoiseMultiplier: c.sigma}
		event := accountant.Composed{Events: []accountant.Event{accountant.SelectBest{Event: score, Repetitions: c.trials}, score}}
		epsilons := []float64{0, 0.3, 0.7, 1.2}
		var bounds []float64
		for _, epsilon := range epsilons {
			bound, err := accountant.Delta(event, epsilon, accountant.Options{})
			if err != nil {
				t.Fatal(err)
			}
			bounds = append(bounds, bound.Delta)
		}
		most := 0.0
		for _, sums := range [][2]float64{{0, 0}, {0.25, -0.25}, {-1, 1}} {
			without := wins(sums)
			with := wins([2]float64{sums[0] - 0.5, sums[1] + 0.5})
			some := 1 - c.none
			p := [3]float64{with, some - with, c.none}
			q := [3]float64{without, some - without, c.none}
			for i, epsilon := range epsilons {
				for _, order := range [][2][3]float64{{p, q}, {q, p}} {
					truth := 0.0
					// The last score is N(0, 1) or N(1/sigma, 1), up to a sign that depends on the model.
					for w, a := range order[0] {
						level := epsilon + math.Log(order[1][w]/a)
						if a > 0 {
							truth += a * (normal(1/(2*c.sigma)-level*c.sigma) - math.Exp(level)*normal(-1/(2*c.sigma)-level*c.sigma))
						}
					}
					if truth > bounds[i] {
						t.Errorf("%#v at epsilon %v: delta %v, and the event says %v", c.trials, epsilon, truth, bounds[i])
					}
					most = math.Max(most, truth/bounds[i])
				}
			}
		}
		t.Logf("%#v with noise %v: up to %.3f of the bound", c.trials, c.sigma, most)
	}
}
