package accountant_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"os"
	"testing"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/internal/long"
	"pgregory.net/rapid"
)

// There are two oracles. testdata/inversion.json has the delta of single runs in both directions, which inversion.py
// has computed in high precision by a method that shares nothing with this package. It checks only its own points, and
// no compositions of different runs. The function witness bounds the truth of any event from below, by mechanisms with
// a closed form. It is the truth for trees of Gaussians, and weak for many sampled steps.

type inversion struct {
	Rate         float64 `json:"rate"`
	Noise        float64 `json:"noise"`
	Steps        int     `json:"steps"`
	Epsilon      float64 `json:"epsilon"`
	Remove       string  `json:"remove"`
	RemoveDigits int     `json:"remove_digits"`
	Add          string  `json:"add"` // empty where it was not computed
	AddDigits    int     `json:"add_digits"`

	delta *big.Float // the larger direction
}

func (c inversion) String() string {
	return fmt.Sprintf("rate %v, noise %v, %d steps", c.Rate, c.Noise, c.Steps)
}

func (c inversion) event() accountant.Event { return accountant.DPSGD(c.Rate, c.Noise, c.Steps) }

func readInversions(t *testing.T) []inversion {
	t.Helper()
	data, err := os.ReadFile("testdata/inversion.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []inversion }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	for i := range file.Cases {
		c := &file.Cases[i]
		parse := func(s string, digits int) *big.Float {
			x, ok := real(0).SetString(s)
			if !ok || digits < 10 {
				t.Fatalf("%v: delta %q of %d digits", c, s, digits)
			}
			return x
		}
		c.delta = parse(c.Remove, c.RemoveDigits)
		if c.Add == "" {
			continue
		}
		if add := parse(c.Add, c.AddDigits); add.Cmp(c.delta) > 0 {
			c.delta = add
		}
	}
	return file.Cases
}

// inversionError is relative, and far above the error of the file.
const inversionError = 1e-10

func TestAgainstInversion(t *testing.T) {
	comparisons := 0
	for i, c := range readInversions(t) {
		if long.Leaves(i, 5) {
			continue
		}
		least := mul(c.delta, real(1-inversionError))
		delta, _ := c.delta.Float64()
		for _, mode := range modes {
			o := accountant.Options{Mode: mode}
			g, err := accountant.Delta(c.event(), c.Epsilon, o)
			if err != nil {
				t.Fatal(err)
			}
			if real(g.Delta).Cmp(least) < 0 {
				t.Errorf("%v, mode %s: delta %v at epsilon %v, where it is %s", c, mode, g.Delta, c.Epsilon, shown(c.delta))
			}
			epsilon := mustEpsilon(t, c.event(), delta, mode)
			if epsilon < c.Epsilon*(1-inversionError) {
				t.Errorf("%v, mode %s: epsilon %v at delta %v, where it is %v", c, mode, epsilon, delta, c.Epsilon)
			}
			if mode == accountant.Best && (g.Delta > delta*(1+looseDelta) || epsilon > c.Epsilon*(1+looseEpsilon)) {
				t.Errorf("%v: (%v, %v) is true, but delta is %v at that epsilon and epsilon %v at that delta", c, c.Epsilon, delta, g.Delta, epsilon)
			}
			// The same run in another form, each form in its turn.
			f := forms[(5*i+2)%len(forms)]
			g, err = accountant.Delta(f.of(c.event()), c.Epsilon, o)
			if err != nil {
				t.Fatal(err)
			}
			if real(g.Delta).Cmp(least) < 0 {
				t.Errorf("%v as %s, mode %s: delta %v at epsilon %v, where it is %s", c, f.name, mode, g.Delta, c.Epsilon, shown(c.delta))
			}
			comparisons += 3
		}
	}
	t.Logf("%d comparisons", comparisons)
}

// TestInversionsAgainstClosedForms checks the two oracles against each other where both apply.
func TestInversionsAgainstClosedForms(t *testing.T) {
	comparisons := 0
	for _, c := range readInversions(t) {
		if c.Rate < 1 && c.Steps > 1 {
			continue
		}
		comparisons++
		mu := sqrt(quo(integer(c.Steps, precision), mul(real(c.Noise), real(c.Noise))))
		exact := sampledDelta(c.Rate, real(c.Epsilon), func(epsilon *big.Float) *big.Float { return gaussianDelta(mu, epsilon) })
		if ratio, _ := quo(c.delta, exact).Float64(); math.Abs(ratio-1) > 1e-15 {
			t.Errorf("%v, epsilon %v: %s and %s", c, c.Epsilon, c.delta.Text('g', 25), exact.Text('g', 25))
		}
	}
	t.Logf("%d comparisons", comparisons)
}

// gaussianPart is mu^2 of a Gaussian mechanism that e may be or contain: e truly costs at least as much.
func gaussianPart(e accountant.Event) *big.Float {
	total := real(0)
	switch e := e.(type) {
	case accountant.Gaussian:
		s := real(e.NoiseMultiplier)
		return quo(real(1), mul(s, s))
	case accountant.RDPLine: // one of those below the line
		return scaled(real(e.Slope), 1)
	case accountant.PoissonSampled:
		if e.SamplingProbability == 1 {
			return gaussianPart(e.Event)
		}
	case accountant.SelfComposed:
		if e.Count > 0 {
			return mul(integer(e.Count, precision), gaussianPart(e.Event))
		}
	case accountant.Composed:
		for _, part := range e.Events {
			total = add(total, gaussianPart(part))
		}
	case accountant.MaxOver:
		return largest(e.Events, gaussianPart)
	case accountant.Parallel:
		return largest(e.Events, gaussianPart)
	case accountant.SelectBest: // all scores may be equal: then it is one run, if K is never 0
		switch k := e.Repetitions.(type) {
		case accountant.Poisson:
		case accountant.Binomial:
			if k.Probability == 1 {
				return gaussianPart(e.Event)
			}
		default:
			return gaussianPart(e.Event)
		}
	case accountant.SubsetThenRest:
		switch e.SamplingProbability {
		case 0:
			return gaussianPart(e.Base)
		case 1:
			return gaussianPart(e.Tune)
		}
	}
	return total
}

func largest(events []accountant.Event, of func(accountant.Event) *big.Float) *big.Float {
	top := real(0)
	for _, e := range events {
		if v := of(e); v.Cmp(top) > 0 {
			top = v
		}
	}
	return top
}

// witness is the delta at epsilon of some mechanism described by e, so e's bound must not be below. For trees of
// Gaussians under composition and maxima it is the truth.
func witness(e accountant.Event, epsilon *big.Float) *big.Float {
	best := real(0)
	if part := gaussianPart(e); part.Sign() > 0 {
		best = gaussianDelta(sqrt(part), epsilon)
	}
	of := func(part accountant.Event) *big.Float { return witness(part, epsilon) }
	sampled := func(rate float64, part accountant.Event) *big.Float {
		return sampledDelta(rate, epsilon, func(epsilon *big.Float) *big.Float { return witness(part, epsilon) })
	}
	other := real(0)
	switch e := e.(type) {
	case accountant.PoissonSampled:
		other = sampled(e.SamplingProbability, e.Event)
	case accountant.SelfComposed:
		if e.Count > 0 {
			other = of(e.Event)
		}
	case accountant.Composed:
		other = largest(e.Events, of)
	case accountant.MaxOver:
		other = largest(e.Events, of)
	case accountant.Parallel:
		other = largest(e.Events, of)
	case accountant.SelectBest:
		other = of(e.Event)
		switch k := e.Repetitions.(type) { // K = 0 shows
		case accountant.Poisson:
			p := precision + uint(max(0, -real(k.Mean).MantExp(nil)))
			other = mul(other, sub(integer(1, p), exp(neg(widened(real(k.Mean), p)))))
		case accountant.Binomial:
			if k.Probability < 1 {
				other = mul(other, real(-math.Expm1(float64(k.Trials)*math.Log1p(-k.Probability))*(1-1e-12)))
			}
		}
	case accountant.SubsetThenRest: // one of the two may ignore the sample
		other = sampled(e.SamplingProbability, e.Tune)
		if base := sampled(math.Nextafter(1-e.SamplingProbability, 0), e.Base); base.Cmp(other) > 0 {
			other = base
		}
	}
	if other.Cmp(best) > 0 {
		return other
	}
	return best
}

// heldToWitness fails where epsilon at delta is below the truth.
func heldToWitness(t rapid.TB, e accountant.Event, mode accountant.Mode, delta, epsilon float64) {
	t.Helper()
	if math.IsInf(epsilon, 1) {
		return
	}
	if w := witness(e, real(epsilon)); w.Cmp(real(delta)) > 0 {
		t.Errorf("%s\nmode %s: epsilon %v at delta %v, where delta is at least %s", text(e), mode, epsilon, delta, shown(w))
	}
}

func text(e accountant.Event) string {
	data, err := json.Marshal(e)
	if err != nil {
		return fmt.Sprintf("%#v", e)
	}
	return string(data)
}

func maxOver(events ...accountant.Event) accountant.Event { return accountant.MaxOver{Events: events} }
func shards(events ...accountant.Event) accountant.Event  { return accountant.Parallel{Events: events} }
func composed(events ...accountant.Event) accountant.Event {
	return accountant.Composed{Events: events}
}
func times(n int, e accountant.Event) accountant.Event {
	return accountant.SelfComposed{Event: e, Count: n}
}
func sampled(q float64, e accountant.Event) accountant.Event {
	return accountant.PoissonSampled{SamplingProbability: q, Event: e}
}

// once is a K that is always 1.
func once(shape float64) accountant.Repetitions {
	return accountant.TruncatedNegativeBinomial{Shape: shape, Success: 1}
}

// weaker returns e with 1.5 times the noise everywhere.
func weaker(e accountant.Event) accountant.Event { return withNoise(e, 1.5) }

func withNoise(e accountant.Event, factor float64) accountant.Event {
	all := func(events []accountant.Event) []accountant.Event {
		changed := make([]accountant.Event, len(events))
		for i, part := range events {
			changed[i] = withNoise(part, factor)
		}
		return changed
	}
	switch e := e.(type) {
	case accountant.Gaussian:
		return accountant.Gaussian{NoiseMultiplier: factor * e.NoiseMultiplier}
	case accountant.RDPLine:
		return accountant.RDPLine{Slope: e.Slope / factor / factor, Orders: e.Orders}
	case accountant.PoissonSampled:
		return sampled(e.SamplingProbability, withNoise(e.Event, factor))
	case accountant.SelfComposed:
		return times(e.Count, withNoise(e.Event, factor))
	case accountant.Composed:
		return composed(all(e.Events)...)
	case accountant.SelectBest:
		return accountant.Baseline(e.Repetitions, withNoise(e.Event, factor))
	case accountant.MaxOver:
		return maxOver(all(e.Events)...)
	case accountant.Parallel:
		return shards(all(e.Events)...)
	case accountant.SubsetThenRest:
		return accountant.SubsetThenRest{SamplingProbability: e.SamplingProbability, Tune: withNoise(e.Tune, factor), Base: withNoise(e.Base, factor)}
	}
	panic("unknown event")
}

// free reports whether e provably costs nothing. Everything else ends, or may end, in a Gaussian mechanism that is run
// with positive probability, and has a positive delta at every epsilon.
func free(e accountant.Event) bool {
	all := func(events []accountant.Event) bool {
		for _, part := range events {
			if !free(part) {
				return false
			}
		}
		return true
	}
	switch e := e.(type) {
	case accountant.RDPLine:
		return e.Slope == 0
	case accountant.PoissonSampled:
		return e.SamplingProbability == 0 || free(e.Event)
	case accountant.SelfComposed:
		return e.Count == 0 || free(e.Event)
	case accountant.Composed:
		return all(e.Events)
	case accountant.SelectBest:
		return free(e.Event)
	case accountant.MaxOver:
		return all(e.Events)
	case accountant.Parallel:
		return all(e.Events)
	case accountant.SubsetThenRest:
		return (e.SamplingProbability == 0 || free(e.Tune)) && (e.SamplingProbability == 1 || free(e.Base))
	}
	return false
}
