package accountant

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// binomial returns C(n, k) g^k (1-g)^{n-k} by Pascal's rule.
func binomial(n int, g float64) []float64 {
	w := []float64{1}
	for range n {
		next := make([]float64, len(w)+1)
		for k, v := range w {
			next[k] += v * (1 - g)
			next[k+1] += v * g
		}
		w = next
	}
	return w
}

// rowsRatio returns the logarithm of the likelihood ratio of one step with the rows against without them, at an output
// of z standard deviations.
func rowsRatio(rows int, g, s float64) func(z float64) float64 {
	weights := binomial(rows, g)
	return func(z float64) float64 {
		sum, top := 0.0, math.Max(0, float64(rows)*z/s)
		for k, w := range weights {
			sum += w * math.Exp(float64(k)*z/s-float64(k*k)/2/s/s-top)
		}
		return math.Log(sum) + top
	}
}

// integrated returns the integral of f under the standard normal distribution.
func integrated(low, high, h float64, f func(z float64) float64) float64 {
	sum := 0.0
	for z := low; z < high; z += h {
		sum += h * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) * f(z)
	}
	return sum
}

func rowsStep(g, s float64) Event {
	return PoissonSampled{SamplingProbability: g, Event: Gaussian{NoiseMultiplier: s}}
}

func deltaOf(t testing.TB, e Event, epsilon float64) float64 {
	t.Helper()
	g, err := Delta(e, epsilon, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return g.Delta
}

// deltasOf returns the deltas at each epsilon by privacy-loss distributions, from one profile. Delta is at most that.
func deltasOf(t testing.TB, e Event, epsilons ...float64) []float64 {
	t.Helper()
	inner, _ := spread(e)
	p, _, err := newProfile(inner, 1e-12)
	if err != nil {
		t.Fatal(err)
	}
	deltas := make([]float64, len(epsilons))
	for i, epsilon := range epsilons {
		deltas[i] = padded(p.DeltaAt(epsilon))
	}
	return deltas
}

func epsilonOf(t testing.TB, e Event, delta float64, mode Mode) float64 {
	t.Helper()
	g, err := Epsilon(e, delta, Options{Mode: mode})
	if err != nil {
		t.Fatal(err)
	}
	return g.Epsilon
}

// One step's delta is that of the mixture, in the direction that costs more.
func TestGroupOfStepAgainstIntegration(t *testing.T) {
	for _, c := range []struct {
		rows int
		g, s float64
	}{{2, 0.02, 1}, {3, 0.3, 2}, {10, 0.0213, 2}, {4, 0.9, 3}, {40, 0.5, 30}, {7, 1e-4, 1}} {
		ratio := rowsRatio(c.rows, c.g, c.s)
		epsilons := []float64{0.01, 0.3, 1, 3}
		for i, got := range deltasOf(t, GroupOf{Event: rowsStep(c.g, c.s), Size: c.rows}, epsilons...) {
			epsilon := epsilons[i]
			x := math.Exp(epsilon)
			const h = 2e-3
			high := 12 + float64(c.rows)/c.s
			remove := integrated(-12, high, h, func(z float64) float64 { return math.Max(0, math.Exp(ratio(z))-x) })
			add := integrated(-12, high, h, func(z float64) float64 { return math.Max(0, 1-x*math.Exp(ratio(z))) })
			want := math.Max(remove, add)
			if got < want*(1-1e-5)-1e-15 || got > want*1.002+1e-13 {
				t.Errorf("%+v: delta(%v) = %.9g, the integral %.9g", c, epsilon, got, want)
			}
		}
	}
}

// One step's Rényi curve is the larger of both divergences.
func TestGroupOfCurveAgainstIntegration(t *testing.T) {
	for _, c := range []struct {
		rows int
		g, s float64
	}{{2, 0.02, 1}, {3, 0.3, 2}, {5, 0.01, 0.7}, {10, 0.0213, 2}, {4, 0.9, 3}, {40, 0.5, 30}, {7, 1e-4, 1}} {
		curve, err := RDP(GroupOf{Event: rowsStep(c.g, c.s), Size: c.rows}, Options{Mode: Paper})
		if err != nil {
			t.Fatal(err)
		}
		ratio := rowsRatio(c.rows, c.g, c.s)
		for _, a := range []int{2, 3, 5, 9} {
			const h = 2e-2
			high := 14 + float64(a*c.rows)/c.s
			power := func(p float64) float64 {
				sum := 0.0
				for z := -40.0; z < high; z += h {
					sum += h * math.Exp(-z*z/2+p*ratio(z)) / math.Sqrt(2*math.Pi)
				}
				return math.Log(sum) / float64(a-1)
			}
			want := math.Max(power(float64(a)), power(float64(1-a)))
			if curve[a]*float64(a-1) > 600 { // beyond what the integral can hold
				continue
			}
			if got := curve[a]; got < want-1e-11 || got > want*(1+1e-6)+1e-11 {
				t.Errorf("%+v: order %d has %.12g, the integral %.12g", c, a, got, want)
			}
		}
	}
}

// With gradients in any directions and of any norms up to 1 a step costs no more (docs/bounds.md).
func TestGroupOfCoversAllGradients(t *testing.T) {
	type setting struct {
		g, s float64
		rows int
	}
	var settings []setting
	known := map[setting]profile{}
	for _, g := range []float64{0.01, 0.3, 0.97} {
		for _, s := range []float64{0.6, 1.3, 4} {
			for rows := 2; rows <= 3; rows++ {
				settings = append(settings, setting{g, s, rows})
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom(settings).Draw(t, "setting")
		g, s, rows := c.g, c.s, c.rows
		epsilon := rapid.Float64Range(0, 3).Draw(t, "epsilon")
		var v [3][2]float64
		for i := range rows {
			r, angle := rapid.Float64Range(0, 1).Draw(t, "norm"), rapid.Float64Range(-math.Pi, math.Pi).Draw(t, "angle")
			v[i] = [2]float64{r * math.Cos(angle) / s, r * math.Sin(angle) / s}
		}
		ratio := func(x, y float64) float64 {
			sum := 0.0
			for set := range 1 << rows {
				w, a, b := 1.0, 0.0, 0.0
				for i := range rows {
					if set>>i&1 == 1 {
						w, a, b = w*g, a+v[i][0], b+v[i][1]
					} else {
						w *= 1 - g
					}
				}
				sum += w * math.Exp(a*x+b*y-(a*a+b*b)/2)
			}
			return sum
		}
		const h = 0.15
		remove, add, e := 0.0, 0.0, math.Exp(epsilon)
		reach := 5 + 3/s
		for x := -reach; x < reach; x += h {
			for y := -reach; y < reach; y += h {
				q, l := h*h*math.Exp(-(x*x+y*y)/2)/2/math.Pi, ratio(x, y)
				remove += q * math.Max(0, l-e)
				add += q * math.Max(0, 1-e*l)
			}
		}
		if known[c] == nil {
			var err error
			if known[c], _, err = newProfile(GroupOf{Event: rowsStep(g, s), Size: rows}, 1e-12); err != nil {
				t.Fatal(err)
			}
		}
		delta := known[c].DeltaAt(epsilon)
		if most := math.Max(remove, add); most > delta*1.02+1e-4 { // the integral's own error
			t.Fatalf("delta %v, but a step with gradients %v costs %v", delta, v[:rows], most)
		}
	})
}

// Many steps, against a convolution of one step's losses on a grid, rounded down and up.
func TestGroupOfStepsAgainstConvolution(t *testing.T) {
	const (
		rows, steps = 4, 8
		g, s        = 0.15, 1.5
		h           = 0.004
	)
	type law struct {
		low int
		at  []float64
	}
	const least, most = -4000, 12000 // of one step's losses, in h
	round := func(up bool) (with, without law) {
		with, without = law{least, make([]float64, most-least)}, law{-most, make([]float64, most-least)}
		const dz = 2e-3
		ratio := rowsRatio(rows, g, s)
		for z := -9.0; z < 9+rows/s; z += dz {
			q := dz * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
			l := ratio(z)
			to := func(loss float64) int {
				if up {
					return int(math.Ceil(loss / h))
				}
				return int(math.Floor(loss / h))
			}
			with.at[to(l)-with.low] += q * math.Exp(l)
			without.at[to(-l)-without.low] += q
		}
		return with, without
	}
	composed := func(one law) law {
		for n := 1; n < steps; n *= 2 {
			// Leave out the ends, of next to no mass.
			for end := 0.0; end+one.at[0] < 1e-12; {
				end += one.at[0]
				one.low, one.at = one.low+1, one.at[1:]
			}
			for end := 0.0; end+one.at[len(one.at)-1] < 1e-12; {
				end += one.at[len(one.at)-1]
				one.at = one.at[:len(one.at)-1]
			}
			two := law{2 * one.low, make([]float64, 2*len(one.at)-1)}
			for i, p := range one.at {
				if p > 0 {
					for j, q := range one.at {
						two.at[i+j] += p * q
					}
				}
			}
			one = two
		}
		return one
	}
	delta := func(one law, epsilon float64) float64 {
		sum := 0.0
		for i, p := range one.at {
			sum += p * math.Max(0, -math.Expm1(epsilon-float64(one.low+i)*h))
		}
		return sum
	}
	lowWith, lowWithout := round(false)
	highWith, highWithout := round(true)
	low, high := [2]law{composed(lowWith), composed(lowWithout)}, [2]law{composed(highWith), composed(highWithout)}
	event := GroupOf{Event: DPSGD(g, s, steps), Size: rows}
	epsilons := []float64{0.5, 2, 5}
	deltas := deltasOf(t, event, epsilons...)
	deltas[1] = deltaOf(t, event, epsilons[1])
	for i, got := range deltas {
		epsilon := epsilons[i]
		least := math.Max(delta(low[0], epsilon), delta(low[1], epsilon))
		most := math.Max(delta(high[0], epsilon), delta(high[1], epsilon))
		if got < least*(1-1e-6)-1e-9 || got > most*(1+1e-6)+1e-9 {
			t.Errorf("delta(%v) = %v, by convolution between %v and %v", epsilon, got, least, most)
		}
	}
}

// The tuning and the final run of one outcome each, where the truth is a sum of products of normal laws.
func TestGroupOfVariantsAgainstIntegration(t *testing.T) {
	once := TruncatedNegativeBinomial{Shape: 1, Success: 1} // K = 1
	for _, c := range []struct {
		rows int
		q, s float64
	}{{2, 0.1, 1}, {3, 0.5, 2}, {5, 0.02, 1.5}, {2, 0.9, 0.8}} {
		base := Gaussian{NoiseMultiplier: c.s}
		weights := binomial(c.rows, c.q)
		for name, v := range map[string]struct {
			event Event
			rest  bool
		}{
			"variant 1": {Variant1(c.q, once, base), true},
			"variant 2": {Variant2(c.q, once, base), false},
		} {
			event := GroupOf{Event: v.event, Size: c.rows}
			epsilons := []float64{0.2, 1, 3}
			alone := deltasOf(t, event, epsilons...)
			if c.rows == 2 {
				alone[1] = deltaOf(t, event, epsilons[1])
			}
			// As a part of a larger event, and by Rényi divergences.
			part := alone
			if c.rows <= 3 && c.q < 0.9 {
				part = deltasOf(t, Composed{Events: []Event{event, Gaussian{NoiseMultiplier: 1e6}}}, epsilons...)
			}
			for i, epsilon := range epsilons {
				x := math.Exp(epsilon)
				const h = 0.1
				remove, add, high := 0.0, 0.0, 8+float64(c.rows)/c.s
				for y := -8.0; y < high; y += h {
					for z := -8.0; z < high; z += h {
						l := 0.0
						for j, w := range weights {
							left := c.rows
							if v.rest {
								left -= j
							}
							a, b := float64(j)/c.s, float64(left)/c.s
							l += w * math.Exp(a*y+b*z-(a*a+b*b)/2)
						}
						q := h * h * math.Exp(-(y*y+z*z)/2) / 2 / math.Pi
						remove += q * math.Max(0, l-x)
						add += q * math.Max(0, 1-x*l)
					}
				}
				truth := math.Max(remove, add)
				if got := alone[i]; got < truth*(1-1e-4)-1e-9 {
					t.Errorf("%s, %+v: delta(%v) = %v is below the truth, %v", name, c, epsilon, got, truth)
				}
				if got := part[i]; got < truth*(1-1e-4)-1e-9 {
					t.Errorf("%s, %+v, composed: delta(%v) = %v is below the truth, %v", name, c, epsilon, got, truth)
				}
				g, err := Delta(event, epsilon, Options{Mode: Tight, Orders: Orders{2, 40}})
				if err != nil || g.Delta < truth*(1-1e-4)-1e-9 {
					t.Errorf("%s, %+v, tight: delta(%v) = %v, %v is below the truth, %v", name, c, epsilon, g.Delta, err, truth)
				}
			}
		}
	}
}

func TestGroupOfOneIsTheEvent(t *testing.T) {
	run := DPSGD(0.0213, 2, 300)
	for _, e := range []Event{
		run, rowsStep(0.2, 1), Gaussian{NoiseMultiplier: 2}, Variant1(0.1, Poisson{Mean: 15}, run), Variant2(0.1, Poisson{Mean: 15}, run),
		Baseline(Poisson{Mean: 5}, MaxOver{Events: []Event{run, rowsStep(0.1, 3)}}), Parallel{Events: []Event{run, run}},
		RDPLine{Slope: 0.1}, Composed{Events: []Event{run, GroupOf{Event: run, Size: 1}}},
	} {
		for _, mode := range []Mode{Paper, Tight, Best} {
			want, err := Epsilon(e, 1e-5, Options{Mode: mode})
			if err != nil {
				t.Fatal(err)
			}
			got, err := Epsilon(GroupOf{Event: e, Size: 1}, 1e-5, Options{Mode: mode})
			if err != nil || got != want {
				t.Errorf("%#v, %s: %v, %v; without a group %v", e, mode, got, err, want)
			}
		}
	}
}

// Without sampling, rows with one gradient are a row with a larger one.
func TestGroupOfAllDataIsLessNoise(t *testing.T) {
	for _, mode := range []Mode{Paper, Best} {
		for _, rows := range []int{2, 5, MaxRows} {
			less := SelfComposed{Event: Gaussian{NoiseMultiplier: 30 / float64(rows)}, Count: 4}
			for _, e := range []Event{DPSGD(1, 30, 4), SelfComposed{Event: Gaussian{NoiseMultiplier: 30}, Count: 4}} {
				got, want := epsilonOf(t, GroupOf{Event: e, Size: rows}, 1e-5, mode), epsilonOf(t, less, 1e-5, mode)
				if math.Abs(got/want-1) > 1e-9 {
					t.Errorf("%s, %d rows: %v instead of %v", mode, rows, got, want)
				}
			}
		}
	}
}

func TestGroupOfGrowsWithItsSize(t *testing.T) {
	run := DPSGD(0.05, 4, 60)
	for _, e := range []Event{run, Baseline(Poisson{Mean: 5}, run), Variant1(0.1, Poisson{Mean: 5}, run), Variant2(0.1, Poisson{Mean: 5}, run)} {
		epsilon, delta := 0.0, 0.0
		for _, rows := range []int{1, 2, 4} {
			group := GroupOf{Event: e, Size: rows}
			if d := deltasOf(t, group, 0.5)[0]; d < delta {
				t.Errorf("%T: delta %v with %d rows, and %v with fewer", e, d, rows, delta)
			} else {
				delta = d
			}
			g, err := Epsilon(group, 1e-5, Options{Mode: Tight, Orders: Orders{2, 32}})
			if err != nil || g.Epsilon < epsilon {
				t.Errorf("%T: epsilon %v, %v with %d rows, and %v with fewer", e, g.Epsilon, err, rows, epsilon)
			}
			epsilon = g.Epsilon
		}
	}
}

// The bound is below the one that takes privacy of one row alone, at the same delta: the naive one multiplies epsilon
// and needs the smaller delta at which (rows-fold) it is delta.
func TestGroupOfIsBelowTheNaiveBound(t *testing.T) {
	run := DPSGD(0.0213, 2, 1878)
	var candidates []float64
	for each := 2.2; each < 12; each += 0.05 {
		candidates = append(candidates, each)
	}
	deltas := deltasOf(t, run, candidates...)
	for _, rows := range []int{2, 5} {
		naive := math.Inf(1)
		for i, each := range candidates {
			if deltas[i]*math.Expm1(float64(rows)*each)/math.Expm1(each) <= 1e-5 {
				naive = float64(rows) * each
				break
			}
		}
		epsilon := epsilonOf(t, GroupOf{Event: run, Size: rows}, 1e-5, Best)
		t.Logf("%d rows: %v, naively %v", rows, epsilon, naive)
		if !(epsilon < 0.96*naive) {
			t.Errorf("%d rows: epsilon %v, naively %v", rows, epsilon, naive)
		}
	}
}

func TestGroupOfAttained(t *testing.T) {
	run := DPSGD(0.05, 2, 100)
	for _, e := range []Event{run, Baseline(Poisson{Mean: 8}, run)} {
		group := GroupOf{Event: e, Size: 3}
		least, err := Attained(group, 1e-5)
		if most := epsilonOf(t, group, 1e-5, Best); err != nil || !(least > 0.98*most && least <= most*(1+1e-4)) {
			t.Errorf("%T: %v, %v is attained, %v the bound", e, least, err, most)
		}
	}
	for _, e := range []Event{Variant1(0.1, Poisson{Mean: 8}, run), Variant2(0.1, Poisson{Mean: 8}, run)} {
		if _, err := Attained(GroupOf{Event: e, Size: 3}, 1e-5); !errors.Is(err, ErrInvalid) {
			t.Errorf("%T: error %v, though its bound has no known mechanism", e, err)
		}
	}
}

func TestGroupOfRefuses(t *testing.T) {
	run := DPSGD(0.05, 2, 100)
	deep := GroupOf{Event: Composed{Events: []Event{run, GroupOf{Event: run, Size: 40}}}, Size: 4}
	for _, e := range []Event{
		GroupOf{Event: run}, GroupOf{Event: run, Size: -1}, GroupOf{Event: run, Size: MaxRows + 1}, GroupOf{Size: 2}, &GroupOf{Event: run, Size: 2},
		GroupOf{Event: Baseline(Poisson{Mean: 2}, RDPLine{Slope: 0.1}), Size: 2}, deep,
	} {
		if err := Validate(e); !errors.Is(err, ErrInvalid) {
			t.Errorf("%#v: error %v", e, err)
		}
	}
}

func TestGroupOfGroupsIsTheProduct(t *testing.T) {
	run := DPSGD(0.05, 3, 100)
	two := GroupOf{Event: Composed{Events: []Event{GroupOf{Event: run, Size: 3}}}, Size: 2}
	if got, want := epsilonOf(t, two, 1e-5, Best), epsilonOf(t, GroupOf{Event: run, Size: 6}, 1e-5, Best); got != want {
		t.Errorf("two groups of three cost %v, one of six %v", got, want)
	}
	g, err := Epsilon(two, 1e-5, Options{})
	if err != nil || g.Neighbours != AddRemoveUnit {
		t.Errorf("neighbours %q, %v", g.Neighbours, err)
	}
}

func TestGroupOfJSON(t *testing.T) {
	e := GroupOf{Event: DPSGD(0.05, 3, 100), Size: 6}
	text, err := MarshalEvent(e)
	want := `{"kind":"group_of","size":6,"event":{"kind":"self_composed","count":100,"event":{"kind":"poisson_sampled","sampling_probability":0.05,"event":{"kind":"gaussian","noise_multiplier":3}}}}`
	if err != nil || string(text) != want {
		t.Fatalf("%s, %v", text, err)
	}
	back, err := UnmarshalEvent(text)
	if err != nil || !reflect.DeepEqual(back, Event(e)) {
		t.Errorf("%#v, %v", back, err)
	}
	if _, err := UnmarshalEvent([]byte(`{"kind":"group_of","size":0,"event":{"kind":"gaussian","noise_multiplier":3}}`)); !errors.Is(err, ErrInvalid) {
		t.Errorf("size 0: error %v", err)
	}
}

// No rate, noise or size makes NaN, or a group that costs less than one row.
func TestGroupOfIsRobust(t *testing.T) {
	for _, c := range []struct {
		rate, noise float64
		rows, steps int
	}{
		{0, 1, 3, 5}, {1e-300, 1, 3, 5}, {1e-9, 1, 12, 50}, {1e-4, 0.2, 3, 2}, {1 - 1e-9, 2, 5, 3}, {1, 1, 2, 1}, {0.5, 0, 2, 1},
		{0.5, 1e-5, 2, 2}, {0.5, 0.05, 9, 1}, {0.3, 1e3, 7, 50}, {0.3, 1e9, 7, 2}, {0.02, 20, MaxRows, 50}, {0.9, 60, MaxRows, 2}, {0.1, 1, 4, 0},
	} {
		e := DPSGD(c.rate, c.noise, c.steps)
		one, err := Epsilon(e, 1e-5, Options{Orders: Orders{2, 32}})
		if err != nil {
			t.Fatal(err)
		}
		many, err := Epsilon(GroupOf{Event: e, Size: c.rows}, 1e-5, Options{Orders: Orders{2, 32}})
		if err != nil || !(many.Epsilon >= one.Epsilon*(1-1e-3)) {
			t.Errorf("%+v: %v (%s), %v; one row costs %v", c, many.Epsilon, many.Bound, err, one.Epsilon)
		}
	}
}

func ExampleGroupOf() {
	run := DPSGD(0.0213, 2, 1878)
	for _, rows := range []int{1, 2, 5} {
		g, _ := Epsilon(GroupOf{Event: run, Size: rows}, 1e-5, Options{})
		fmt.Printf("%d rows: epsilon %.2f\n", rows, g.Epsilon)
	}
	// Output:
	// 1 rows: epsilon 2.00
	// 2 rows: epsilon 4.41
	// 5 rows: epsilon 13.30
}
