package paper

import (
	"math"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/cmd/internal/reproduce/campaign"
)

// By hand, from the facts of the paper: E (mu q n + (1-q) n), E (mu q n + n), E mu n, E n.
func TestExpectedGradients(t *testing.T) {
	for _, c := range []struct {
		dataset string
		space   campaign.Space
		want    [4]float64
	}{
		{"mnist", campaign.Rate, [4]float64{40 * (90_000 + 54_000), 40 * (90_000 + 60_000), 40 * 900_000, 40 * 60_000}},
		{"imdb", campaign.Rate, [4]float64{110 * (37_500 + 22_500), 110 * (37_500 + 25_000), 110 * 375_000, 110 * 25_000}},
		{"mnist", campaign.All, [4]float64{25 * (270_000 + 54_000), 25 * (270_000 + 60_000), 25 * 2_700_000, 25 * 60_000}},
		{"cifar-10", campaign.All, [4]float64{30 * (225_000 + 45_000), 30 * (225_000 + 50_000), 30 * 2_250_000, 30 * 50_000}},
	} {
		w, err := collect(Selection{}, nil).workload(c.dataset, tuning{"dp-sgd", c.space})
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range campaign.Methods() {
			if got := w.expected(m); math.Abs(got/c.want[i]-1) > 1e-12 {
				t.Errorf("%s, %s, %s: %v, want %v", c.dataset, c.space, m, got, c.want[i])
			}
		}
	}
}

// Runs with a twentieth of the epochs and a fifth of the trials: 2 (3 q n + 0.9 n) for MNIST.
func TestSmallerRunsTakeLess(t *testing.T) {
	r := &results{epochs: 0.05, trials: 0.2}
	w, err := r.workload("mnist", tuning{"dp-sgd", campaign.Rate})
	if err != nil {
		t.Fatal(err)
	}
	if got := w.expected(campaign.Variant1); math.Abs(got/(2*72_000)-1) > 1e-9 {
		t.Errorf("%v", got)
	}
}

func TestSavingsSayWhatWasDrawn(t *testing.T) {
	s := Selection{Datasets: []string{"mnist"}, Epsilons: []float64{1, 2}, Accountings: []string{"paper"}, Repetitions: 2}
	f := Figures()[2:3]
	given := invent(f, s, nil)
	for i := range given {
		given[i].Gradients = map[campaign.Method]float64{campaign.Variant1: 5e6, campaign.Variant2: 8e6, campaign.Baseline: 40e6}[given[i].Method]
		if given[i].Repetition == 2 {
			given[i].Gradients *= 1.5
		}
	}
	r := collect(s, given)
	table, err := r.savingsTable(f)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"rate, DP-SGD", "MNIST", "15", "5.76", "6.25", "6.00", "10.0", "36.0", "50.0", "6.25", "8.00", "6.00", "5.00"}
	if len(table.Rows) != 1 || !slices.Equal(table.Rows[0], want) {
		t.Errorf("%q", table.Rows)
	}
}

func TestGainsAreDifferencesAtEqualEpsilon(t *testing.T) {
	s := Selection{Datasets: []string{"imdb"}, Epsilons: []float64{1}, Accountings: []string{"paper", "best"}, Repetitions: 3}
	f := Figures()[2:3]
	given := invent(f, s, func(t campaign.Job) bool { return t.Method == campaign.Variant2 && t.Accounting == "best" })
	for i := range given {
		given[i].Accuracy = 0.70 + 0.001*float64(given[i].Repetition)
		if given[i].Accounting == "best" && given[i].Method == campaign.Variant1 {
			given[i].Accuracy += 0.02
		}
	}
	r := collect(s, given)
	table, ok := r.gainsTable(f)
	// Standard errors are 0.1/sqrt(3) each, so half the interval is 2.776 (4 degrees) times 0.1 sqrt(2/3) = 0.2267.
	want := []string{"rate, DP-SGD", "IMDB", "1", "+2.00 [+1.77,\u00a0+2.23]", "–", "0.00 [−0.23,\u00a0+0.23]"}
	if !ok || len(table.Rows) != 1 || !slices.Equal(table.Rows[0], want) {
		t.Errorf("%q", table.Rows)
	}
	s.Accountings = s.Accountings[:1]
	if _, ok := collect(s, given).gainsTable(f); ok {
		t.Error("gains of one accounting")
	}
}

// By hand: the baseline takes 60, variant 1 takes 12 and variant 2 takes 10, each more or less 10 percent.
func TestSpeedupIsOverTheFasterVariant(t *testing.T) {
	s := Selection{Datasets: []string{"mnist"}, Epsilons: []float64{1, 2}, Accountings: []string{"paper"}, Repetitions: 2}
	f := Figures()[2]
	given := invent([]Figure{f}, s, nil)
	for i := range given {
		given[i].Seconds = map[campaign.Method]float64{campaign.Variant1: 12, campaign.Variant2: 10, campaign.Baseline: 60}[given[i].Method]
		given[i].Seconds *= 0.7 + 0.2*float64(given[i].Repetition) // 0.9 and 1.1
	}
	r := collect(s, given)
	if got, ok := r.speedup(f.tuning(), "mnist", "paper", seconds); !ok || got.variant != campaign.Variant2 || math.Abs(got.ratio-6) > 1e-12 {
		t.Errorf("%+v", got)
	}
	if note := r.note(f, "mnist"); note != "baseline trained 6.0 times as long" {
		t.Errorf("%q", note)
	}
	if _, ok := r.speedup(f.tuning(), "imdb", "paper", seconds); ok {
		t.Error("a ratio without runs")
	}
	f.Detailed = true
	r.Accountings = []string{"best", "paper"}
	if note := r.note(f, "mnist"); note != "baseline -, 6.0 times as long" {
		t.Errorf("%q", note)
	}
}
