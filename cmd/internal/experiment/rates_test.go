package experiment

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/datasets/table"
)

// By hand: of rows x = 1 and -1 the mean of (x,1)(x,1)ᵀ is the identity, whose eigenvalue is 1. Of x = 2 alone it has
// the eigenvalue 5, and two opposite columns of ±3, whose eigenvector is (1,-1,0), have 18.
func TestStableRateByHand(t *testing.T) {
	for name, c := range map[string]struct {
		n      int
		values []float32
		want   float64
	}{
		"1 and -1":         {2, []float32{1, -1}, 2},
		"2":                {1, []float32{2}, 0.4},
		"opposite columns": {2, []float32{3, -3, -3, 3}, 0.11},
		"no rows":          {0, nil, math.Inf(1)},
		"no numbers":       {1, []float32{float32(math.NaN())}, math.Inf(1)},
	} {
		if got := stableRate(nil, &table.Samples{N: c.n, Values: c.values}); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// Gradient descent on half the squared error converges at nine tenths of the rate, and diverges at eleven tenths, from
// any start that isn't the minimum by chance; so the rate is neither too large nor needlessly small.
func TestStableRateIsTheLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width, n := rapid.IntRange(1, 4).Draw(t, "width"), rapid.IntRange(2, 8).Draw(t, "n")
		x := rapid.SliceOfN(rapid.Map(rapid.IntRange(-20, 20), func(i int) float32 { return float32(i) / 10 }), n*width, n*width).Draw(t, "x")
		rate := stableRate(nil, &table.Samples{N: n, Values: x})
		grows := func(rate float64) bool {
			e := make([]float64, width+1) // the distance from the minimum
			for j := range e {
				e[j] = 1 + 0.37*float64(j*j)
			}
			first := math.Inf(1)
			for step := range 2000 {
				next := append([]float64(nil), e...)
				for i := range n {
					residual := e[width]
					for j := range width {
						residual += float64(x[i*width+j]) * e[j]
					}
					for j := range width {
						next[j] -= rate / float64(n) * residual * float64(x[i*width+j])
					}
					next[width] -= rate / float64(n) * residual
				}
				e = next
				if step == 1000 {
					first = floats.Norm(e, 2)
				}
			}
			return floats.Norm(e, 2) > first*1.5
		}
		if grows(0.9 * rate) {
			t.Fatalf("rate %v diverges", 0.9*rate)
		}
		// A start without a part along the largest eigenvector doesn't: then there is nothing to see.
		if !grows(1.1*rate) && grows(1.4*rate) {
			t.Fatalf("rate %v is needlessly small", rate)
		}
	})
}

// numbers writes two files of numbers that a line fits, and returns settings of a regression on them.
func numbers(t *testing.T, more ...string) []string {
	t.Helper()
	dir := t.TempDir()
	write := func(name string, n int) string {
		var b strings.Builder
		b.WriteString("x,y\n")
		for i := range n {
			x := float64(i%21)/10 - 1
			fmt.Fprintf(&b, "%.1f,%.2f\n", x, 0.5*x+0.01*float64(i%7))
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return append([]string{
		"data.train=" + write("private.csv", 1500), "data.test=" + write("public.csv", 210), "data.label=y", "data.task=regression",
		"privacy.delta=0.0001", "privacy.accounting=paper", "privacy.mean_repetitions=3",
	}, more...)
}

// Of x from -1 to 1 and the bias the eigenvalues are 0.37 and 1, so the rate is 2: the trials' rates, times 9, are
// 0.27, 0.9, 2.7 and 9, of which two are left. A rate in the settings wins, and is warned of; DP-Adam and classes
// have none.
func TestPlansBoundTheFinalRate(t *testing.T) {
	largest := func(more ...string) (low, high, limit float64, warnings string) {
		if !slices.ContainsFunc(more, func(s string) bool { return strings.HasPrefix(s, "tuning.learning_rates=") }) {
			more = append(more, "tuning.learning_rates=0.03,0.1,0.3,1")
		}
		if !slices.Contains(more, "training.optimizer=dp-adam") {
			more = append(more, "training.optimizer=dp-sgd")
		}
		p := resolve(t, true, numbers(t, more...)...)
		s := p.Statement().Tuning.Space
		return s.FinalLearningRates[0], s.FinalLearningRates[1], s.LargestFinalRate, strings.Join(p.Cautions(), "\n")
	}
	const diverges = "makes dp-sgd diverge above about 2"
	for name, c := range map[string]struct {
		more        []string
		high, limit float64
		warned      bool
	}{
		"by default":         {nil, 0.9, 2, false},
		"mlp":                {[]string{"model=mlp:4"}, 0.9, 2, false},
		"an explicit rate":   {[]string{"tuning.largest_final_rate=3"}, 2.7, 3, true},
		"a smaller one":      {[]string{"tuning.largest_final_rate=0.5"}, 0.27, 0.5, false},
		"none is left":       {[]string{"tuning.learning_rates=1,3"}, 27, 0, true},
		"dp-adam":            {[]string{"training.optimizer=dp-adam"}, 1, 0, false},
		"the baseline":       {[]string{"privacy.variant=baseline"}, 1, 2, false},
		"the edge stays":     {[]string{"privacy.variant=baseline", "tuning.learning_rates=1,2,2.1"}, 2, 2, false},
		"a range is cut off": {[]string{"tuning.search=random"}, 2, 2, false},
	} {
		_, high, limit, warnings := largest(c.more...)
		if math.Abs(high-c.high) > 1e-9*c.high || limit != c.limit || strings.Contains(warnings, diverges) != c.warned {
			t.Errorf("%s: up to %v, limit %v, warnings %q; want up to %v, limit %v, %t", name, high, limit, warnings, c.high, c.limit, c.warned)
		}
	}
	for rate, warned := range map[string]bool{"2": false, "2.5": true} {
		p := resolve(t, false, numbers(t, "training.optimizer=dp-sgd", "training.learning_rate="+rate)...)
		if got := strings.Contains(strings.Join(p.Cautions(), ""), diverges); got != warned {
			t.Errorf("a single run at rate %s: warned %t", rate, got)
		}
	}
}
