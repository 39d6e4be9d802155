package accountant

import (
	"errors"
	"fmt"
	"math"
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

// The delta of one step and of two is the mixtures' delta in the costlier direction. The Rényi curve of one step is the
// larger of both divergences.
func TestGroupOfStepsAgainstIntegration(t *testing.T) {
	normal := func(z float64) float64 { return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) }
	for _, c := range Every(2, []struct {
		rows int
		g, s float64
	}{{2, 0.02, 1}, {3, 0.3, 2}, {5, 0.01, 0.7}, {10, 0.0213, 2}, {4, 0.9, 3}, {4, 0.15, 1.5}, {40, 0.5, 30}, {7, 1e-4, 1}}) {
		ratio, high := rowsRatio(c.rows, c.g, c.s), 12+float64(c.rows)/c.s
		epsilons := []float64{0.01, 0.3, 1, 3}
		for steps, h := range map[int]float64{1: 2e-3, 2: 1e-2} {
			var ratios, masses []float64
			for z := -12.0; z < high; z += h {
				ratios, masses = append(ratios, math.Exp(ratio(z))), append(masses, h*normal(z))
			}
			last, lastMass := []float64{1}, []float64{1} // of no step
			if steps == 2 {
				last, lastMass = ratios, masses
			}
			for i, got := range deltasOf(t, GroupOf{Event: DPSGD(c.g, c.s, steps), Size: c.rows}, epsilons...) {
				x, remove, add := math.Exp(epsilons[i]), 0.0, 0.0
				for j, l := range last {
					for k, m := range ratios {
						remove += lastMass[j] * masses[k] * max(0, l*m-x)
						add += lastMass[j] * masses[k] * max(0, 1-x*l*m)
					}
				}
				if want := math.Max(remove, add); got < want*(1-1e-5)-1e-15 || got > want*1.002+1e-13 {
					t.Errorf("%+v, %d steps: delta(%v) = %.9g, the integral %.9g", c, steps, epsilons[i], got, want)
				}
			}
		}
		curve, err := RDP(GroupOf{Event: rowsStep(c.g, c.s), Size: c.rows}, Options{Mode: Paper})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range []int{2, 3, 5, 9} {
			if curve[a]*float64(a-1) > 600 { // beyond what the integral can hold
				continue
			}
			power := func(p float64) float64 {
				const h = 2e-2
				sum := 0.0
				for z := -40.0; z < 14+float64(a*c.rows)/c.s; z += h {
					sum += h * math.Exp(-z*z/2+p*ratio(z)) / math.Sqrt(2*math.Pi)
				}
				return math.Log(sum) / float64(a-1)
			}
			want := math.Max(power(float64(a)), power(float64(1-a)))
			if got := curve[a]; got < want-1e-11 || got > want*(1+1e-6)+1e-11 {
				t.Errorf("%+v: order %d has %.12g, the integral %.12g", c, a, got, want)
			}
		}
	}
}

// With gradients in any directions and of any norms up to 1 a step costs no more (docs/proofs/bounds.md).
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

// The tuning and the final run of one outcome each, where the truth is a sum of products of normal laws.
func TestGroupOfVariantsAgainstIntegration(t *testing.T) {
	once := TruncatedNegativeBinomial{Shape: 1, Success: 1} // K = 1
	for _, c := range Every(2, []struct {
		rows int
		q, s float64
	}{{2, 0.1, 1}, {3, 0.5, 2}, {5, 0.02, 1.5}, {2, 0.9, 0.8}}) {
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

// Without sampling, several rows with one gradient act as one row with a larger gradient.
func TestGroupOfAllDataIsLessNoise(t *testing.T) {
	for _, mode := range []Mode{Paper, Best} {
		for _, rows := range []int{2, 5, MaxRows} {
			less := SelfComposed{Event: Gaussian{NoiseMultiplier: 30 / float64(rows)}, Count: 4}
			for _, e := range []Event{DPSGD(1, 30, 4), SelfComposed{Event: Gaussian{NoiseMultiplier: 30}, Count: 4}} {
				got, want := mustEpsilon(t, GroupOf{Event: e, Size: rows}, 1e-5, Options{Mode: mode}), mustEpsilon(t, less, 1e-5, Options{Mode: mode})
				if math.Abs(got/want-1) > 1e-9 {
					t.Errorf("%s, %d rows: %v instead of %v", mode, rows, got, want)
				}
			}
		}
	}
}

func TestGroupOfGrowsWithItsSize(t *testing.T) {
	run := DPSGD(0.05, 4, 60)
	for _, e := range Every(2, []Event{run, Baseline(Poisson{Mean: 5}, run), Variant1(0.1, Poisson{Mean: 5}, run), Variant2(0.1, Poisson{Mean: 5}, run)}) {
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

// The bound is below the naive one at the same delta. The naive one takes the guarantee for one row, multiplies epsilon
// by the number of rows, and needs a smaller delta for one row, so that delta holds for all rows.
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
		epsilon := mustEpsilon(t, GroupOf{Event: run, Size: rows}, 1e-5, Options{Mode: Best})
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
		if most := mustEpsilon(t, group, 1e-5, Options{Mode: Best}); err != nil || !(least > 0.98*most && least <= most*(1+1e-4)) {
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
	if got, want := mustEpsilon(t, two, 1e-5, Options{Mode: Best}), mustEpsilon(t, GroupOf{Event: run, Size: 6}, 1e-5, Options{Mode: Best}); got != want {
		t.Errorf("two groups of three cost %v, one of six %v", got, want)
	}
	g, err := Epsilon(two, 1e-5, Options{})
	if err != nil || g.Neighbours != AddRemoveUnit {
		t.Errorf("neighbours %q, %v", g.Neighbours, err)
	}
}

// No rate, noise or size makes NaN, or a group that costs less than one row.
func TestGroupOfIsRobust(t *testing.T) {
	for _, c := range Every(2, []struct {
		rate, noise float64
		rows, steps int
	}{
		{0, 1, 3, 5}, {1e-300, 1, 3, 5}, {1e-9, 1, 12, 50}, {1e-4, 0.2, 3, 2}, {1 - 1e-9, 2, 5, 3}, {1, 1, 2, 1}, {0.5, 0, 2, 1},
		{0.5, 1e-5, 2, 2}, {0.5, 0.05, 9, 1}, {0.3, 1e3, 7, 50}, {0.3, 1e9, 7, 2}, {0.02, 20, MaxRows, 50}, {0.9, 60, MaxRows, 2}, {0.1, 1, 4, 0},
	}) {
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
