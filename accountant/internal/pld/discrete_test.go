package pld

import (
	"fmt"
	"math"
	"slices"

	"github.com/dptrain/dptrain/accountant/internal/repetitions"
	"github.com/dptrain/dptrain/internal/renyi"
	"pgregory.net/rapid"
)

// drawDiscrete draws a mechanism of 2 to 6 outcomes with losses of a few units, in random order or in the orders that
// separate the neighbours best.
func drawDiscrete(t *rapid.T, name string) law {
	n := rapid.IntRange(2, 6).Draw(t, name+" outcomes")
	spread := rapid.Float64Range(0.01, 3).Draw(t, name+" spread")
	d := law{p: make([]float64, n), q: make([]float64, n)}
	for i := range n {
		d.q[i] = math.Exp(rapid.Float64Range(-8, 0).Draw(t, name+" mass"))
		d.p[i] = d.q[i] * math.Exp(spread*rapid.Float64Range(-1, 1).Draw(t, name+" loss"))
	}
	normalise(d.p)
	normalise(d.q)
	switch rapid.IntRange(0, 3).Draw(t, name+" order") {
	case 1:
		sortByLoss(d)
	case 2:
		sortByLoss(d)
		slices.Reverse(d.p)
		slices.Reverse(d.q)
	}
	return d
}

func normalise(x []float64) {
	total := 0.0
	for _, v := range x {
		total += v
	}
	for i := range x {
		x[i] /= total
	}
}

func (d law) reversed() law { return law{p: d.q, q: d.p} }

// divergence is the Rényi divergence of p from q at order a.
func (d law) divergence(a int) float64 {
	total := math.Inf(-1)
	for i := range d.p {
		if d.p[i] > 0 {
			x := float64(a)*math.Log(d.p[i]) - float64(a-1)*math.Log(d.q[i])
			if math.IsInf(x, 1) {
				return x
			}
			larger := math.Max(total, x)
			total = larger + math.Log(math.Exp(total-larger)+math.Exp(x-larger))
		}
	}
	return total / float64(a-1)
}

// curve is the exact RDP curve of both directions.
func (d law) curve(high int) renyi.Curve {
	c := renyi.NewCurve(high)
	for a := 2; a <= high; a++ {
		c[a] = math.Max(0, math.Max(d.divergence(a), d.reversed().divergence(a)))
	}
	return c
}

// pair puts the mechanism on a grid.
func (d law) pair(step float64) *Pair {
	removal, addition := d.side(step), d.reversed().side(step)
	return &Pair{removal, addition}
}

func (d law) side(step float64) *side {
	low, high := math.Inf(1), math.Inf(-1)
	for i := range d.p {
		if l := math.Log(d.p[i] / d.q[i]); d.p[i] > 0 && d.q[i] > 0 {
			low, high = math.Min(low, l), math.Max(high, l)
		}
	}
	if low > high {
		low, high = 0, 0
	}
	b, err := builderBetween(by(step), low, high)
	if err != nil {
		panic(err)
	}
	for i, p := range d.p {
		switch q := d.q[i]; {
		case p == 0:
		case q == 0:
			b.inf += p
		default:
			b.put(math.Log(p/q), 0, p)
		}
	}
	s, err := b.side()
	if err != nil {
		panic(err)
	}
	return s
}

// selected is the exact law of the best of K runs, where outcomes are scored by their index.
func (l law) selected(k repetitions.Distribution) law {
	score := make([]int, len(l.p))
	for i := range score {
		score[i] = i
	}
	return l.best(k, score)
}

// merged returns a follower for each outcome of another law: d with two random outcomes merged.
func (d law) merged(t *rapid.T, outcomes int) func(i int) law {
	n := len(d.p)
	all := make([]law, outcomes)
	for i := range all {
		all[i] = d.coarsened(rapid.IntRange(0, n-1).Draw(t, "merge"), rapid.IntRange(0, n-1).Draw(t, "into"))
	}
	return func(i int) law { return all[i] }
}

// coarsened merges two outcomes: some other mechanism that d dominates.
func (d law) coarsened(i, j int) law {
	if i == j {
		return d
	}
	var out law
	for k := range d.p {
		if k != j {
			out.p, out.q = append(out.p, d.p[k]), append(out.q, d.q[k])
			if k == i {
				out.p[len(out.p)-1] += d.p[j]
				out.q[len(out.q)-1] += d.q[j]
			}
		}
	}
	return out
}

func drawRepetitions(t *rapid.T) repetitions.Distribution {
	mean := math.Exp(rapid.Float64Range(0.01, 4).Draw(t, "log mean"))
	switch rapid.IntRange(0, 4).Draw(t, "repetitions") {
	case 4:
		trials := int(math.Ceil(mean * rapid.Float64Range(1, 2).Draw(t, "trials")))
		if trials == 2 { // because the accountant never charges two trials of a large probability
			trials = 5
		}
		return repetitions.Binomial{Trials: trials, Probability: mean / float64(trials)}
	case 0:
		return repetitions.Poisson{Mean: mean}
	case 1:
		return repetitions.Poisson{Mean: math.Exp(-mean / 5)}
	case 2:
		return repetitions.TruncatedPoisson{Rate: mean / 4}
	}
	k, err := negativeBinomial(rapid.SampledFrom([]float64{-0.5, 0, 0.5, 1, 3}).Draw(t, "shape"), mean)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// negativeBinomial returns the truncated negative binomial distribution of the given mean.
func negativeBinomial(shape, mean float64) (repetitions.Distribution, error) {
	k, ok := repetitions.WithMean(shape, mean)
	if !ok {
		return k, fmt.Errorf("mean %v is out of reach of shape %v", mean, shape)
	}
	return k, nil
}

// mean is E K.
func mean(k repetitions.Distribution) float64 { return math.Exp(k.LogSlope(0)) }
