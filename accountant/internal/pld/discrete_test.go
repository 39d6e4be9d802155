package pld

import (
	"fmt"
	"math"
	"sort"

	"github.com/dptrain/dptrain/accountant/internal/repetitions"
	"github.com/dptrain/dptrain/internal/renyi"
	"pgregory.net/rapid"
)

// A discrete mechanism on one pair of neighbours: p[i] and q[i] are the probabilities of outcome i with and without the
// sample. Outcomes are scored by their index, so a permutation of the outcomes is a choice of the scores.
type discrete struct{ p, q []float64 }

// drawDiscrete draws a mechanism of 2 to 6 outcomes with losses of a few units, in random order or in the orders that
// separate the neighbours best.
func drawDiscrete(t *rapid.T, name string) discrete {
	n := rapid.IntRange(2, 6).Draw(t, name+" outcomes")
	spread := rapid.Float64Range(0.01, 3).Draw(t, name+" spread")
	d := discrete{p: make([]float64, n), q: make([]float64, n)}
	for i := range n {
		d.q[i] = math.Exp(rapid.Float64Range(-8, 0).Draw(t, name+" mass"))
		d.p[i] = d.q[i] * math.Exp(spread*rapid.Float64Range(-1, 1).Draw(t, name+" loss"))
	}
	normalise(d.p)
	normalise(d.q)
	switch rapid.IntRange(0, 3).Draw(t, name+" order") {
	case 1:
		sort.Sort(byLoss(d))
	case 2:
		sort.Sort(sort.Reverse(byLoss(d)))
	}
	return d
}

type byLoss discrete

func (d byLoss) Len() int           { return len(d.p) }
func (d byLoss) Less(i, j int) bool { return d.p[i]*d.q[j] < d.p[j]*d.q[i] }
func (d byLoss) Swap(i, j int) {
	d.p[i], d.p[j] = d.p[j], d.p[i]
	d.q[i], d.q[j] = d.q[j], d.q[i]
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

func (d discrete) reversed() discrete { return discrete{p: d.q, q: d.p} }

// divergence is the Rényi divergence of p from q at order a.
func (d discrete) divergence(a int) float64 {
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
func (d discrete) curve(high int) renyi.Curve {
	c := renyi.NewCurve(high)
	for a := 2; a <= high; a++ {
		c[a] = math.Max(0, math.Max(d.divergence(a), d.reversed().divergence(a)))
	}
	return c
}

// hockey is the hockey-stick divergence of p from q.
func (d discrete) hockey(epsilon float64) float64 {
	total := 0.0
	for i := range d.p {
		total += math.Max(0, d.p[i]-math.Exp(epsilon)*d.q[i])
	}
	return total
}

// pair puts the mechanism on a grid.
func (d discrete) pair(step float64) *Pair {
	removal, addition := d.side(step), d.reversed().side(step)
	return &Pair{removal, addition}
}

func (d discrete) side(step float64) *side {
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

// selected is the exact law of the best of K runs, with K = 0 as one more outcome.
func (d discrete) selected(k repetitions.Distribution) discrete {
	best := func(x []float64) []float64 {
		out := []float64{k.None()}
		below, total := generating(k, 0), 0.0
		for _, v := range x {
			total = math.Min(1, total+v)
			upTo := generating(k, total)
			out = append(out, upTo-below)
			below = upTo
		}
		return out
	}
	return discrete{p: best(d.p), q: best(d.q)}
}

// generating is E z^K.
func generating(k repetitions.Distribution, z float64) float64 {
	switch k := k.(type) {
	case repetitions.Poisson:
		return math.Exp(k.Mean * (z - 1))
	case repetitions.TruncatedPoisson:
		return math.Expm1(k.Rate*z) / math.Expm1(k.Rate)
	case repetitions.NegativeBinomial:
		if k.Success == 1 {
			return z
		}
		if k.Shape == 0 {
			return math.Log1p(-(1-k.Success)*z) / math.Log(k.Success)
		}
		return math.Expm1(-k.Shape*math.Log1p(-(1-k.Success)*z)) / math.Expm1(-k.Shape*math.Log(k.Success))
	case repetitions.Binomial:
		return math.Pow(1-k.Probability+k.Probability*z, float64(k.Trials))
	}
	panic("unknown repetitions")
}

// product is the law of two independent outcomes.
func (d discrete) product(e discrete) discrete {
	var out discrete
	for i := range d.p {
		for j := range e.p {
			out.p = append(out.p, d.p[i]*e.p[j])
			out.q = append(out.q, d.q[i]*e.q[j])
		}
	}
	return out
}

// subset is variant 1: with the sample, tune sees it with probability rate and base sees it otherwise. What base does
// with it may depend on tune's outcome: base[i] is the mechanism that follows outcome i.
func subsetOf(tune discrete, base []discrete, rate float64) discrete {
	var out discrete
	for i := range tune.p {
		for j := range base[i].p {
			out.p = append(out.p, rate*tune.p[i]*base[i].q[j]+(1-rate)*tune.q[i]*base[i].p[j])
			out.q = append(out.q, tune.q[i]*base[i].q[j])
		}
	}
	return out
}

// coarsened merges two outcomes: some other mechanism that d dominates.
func (d discrete) coarsened(i, j int) discrete {
	if i == j {
		return d
	}
	var out discrete
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
		if trials == 2 { // as the accountant charges no two trials of a large probability
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
