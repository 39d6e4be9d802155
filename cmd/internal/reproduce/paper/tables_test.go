package paper

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cmd/internal/reproduce/campaign"
)

// The values of the paper's tables tab:lr_exp_param and tab:data_sets, with the numbers of parameters that it rounds.
func TestTablesAreThePapers(t *testing.T) {
	tables, err := Tables(Datasets())
	if err != nil {
		t.Fatal(err)
	}
	fixed, grids := tables[0], tables[1]
	if want := [][]string{{"sampling rate γ", "0.0213", "0.0213", "0.0256", "0.0256"}, {"epochs", "40", "40", "40", "110"}}; !slices.EqualFunc(fixed.Rows, want, slices.Equal) {
		t.Errorf("%q", fixed.Rows)
	}
	small, large := "10⁻ⁱ, i = 4, 3.5, …, 0 (9)", "10⁻ⁱ, i = 3, 2.5, …, −1.5 (10)"
	want := [][]string{
		{"MNIST", "60,000/10,000", "26,010", "1", "128, 256", small, "10, 20, 30, 40"},
		{"FashionMNIST", "60,000/10,000", "109,930", "3", "128, 256", large, "10, 20, 30, 40"},
		{"CIFAR-10", "50,000/10,000", "650", "3", "64, 128", large, "20, 30, 40"},
		{"IMDB", "25,000/25,000", "464,242", "1", "64, 128", small, "70, 90, 110"},
	}
	for i := range want {
		if !slices.Equal(grids.Rows[i], want[i]) {
			t.Errorf("%q, want %q", grids.Rows[i], want[i])
		}
	}
}

func TestRightAligned(t *testing.T) {
	table := Table{Columns: []string{"a", "b", "c"}, Rows: [][]string{{"x", "15", ""}, {"5", "−4.5", ""}, {"6", "", ""}}}
	if got := table.RightAligned(); !slices.Equal(got, []bool{false, true, false}) {
		t.Errorf("%v", got)
	}
}

func TestPowers(t *testing.T) {
	for _, c := range []struct {
		rates []float64
		want  string
	}{
		{[]float64{1e-3, 1e-2, 0.1, 1, 10}, "10⁻ⁱ, i = 3, 2, …, −1 (5)"},
		{[]float64{1e-3, 1e-2, 0.1, 2}, "0.001, 0.01, 0.1, 2"},
		{[]float64{1e-3, 1e-2, 0.5, 1}, "0.001, 0.01, 0.5, 1"},
		{[]float64{0.1, 1}, "0.1, 1"},
		{[]float64{0.3}, "0.3"},
	} {
		if got := powers(c.rates); got != c.want {
			t.Errorf("%v: %q", c.rates, got)
		}
	}
}

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
		w, err := workloadOf(c.dataset, tuning{"dp-sgd", c.space})
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
	r, err := collect(s, given)
	if err != nil {
		t.Fatal(err)
	}
	table, err := r.savingsTable(f)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"rate, DP-SGD", "MNIST", "15", "5.76", "6.25", "6.00", "10.0", "36.0", "50.0", "6.25", "8.00", "6.00", "5.00"}
	if len(table.Rows) != 1 || !slices.Equal(table.Rows[0], want) {
		t.Errorf("%q", table.Rows)
	}
}

func TestResultsAreChecked(t *testing.T) {
	s := Selection{Datasets: []string{"mnist"}, Epsilons: []float64{1}, Accountings: []string{"paper"}, Repetitions: 2}
	f := Figures()[2]
	good := invent([]Figure{f}, s, nil)
	if r, err := collect(s, good); err != nil || len(r.all) != 8 {
		t.Fatalf("%v", err)
	}
	for name, change := range map[string]func(*campaign.Result){
		"accuracy":         func(r *campaign.Result) { r.Accuracy = math.NaN() },
		"epsilon":          func(r *campaign.Result) { r.Epsilon = math.Inf(1) },
		"noise multiplier": func(r *campaign.Result) { r.NoiseMultiplier = -1 },
		"training time":    func(r *campaign.Result) { r.Seconds = math.NaN() },
		"sampling rate":    func(r *campaign.Result) { r.SamplingRate = 2 },
	} {
		bad := slices.Clone(good)
		change(&bad[3])
		if _, err := collect(s, bad); !errors.Is(err, ErrResults) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), bad[3].Job.Name()) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := collect(s, append(slices.Clone(good), good[0])); !errors.Is(err, ErrResults) {
		t.Errorf("two of a job: %v", err)
	}
	other := good[0]
	other.Epsilon = math.NaN() // not the cell's: of a run that isn't shown
	other.Repetition = 3
	if r, err := collect(s, append(slices.Clone(good), other)); err != nil || len(r.all) != 8 {
		t.Errorf("a run of another campaign: %v", err)
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
	r, err := collect(s, given)
	if err != nil {
		t.Fatal(err)
	}
	table, ok := r.gainsTable(f)
	// Standard errors are 0.1/sqrt(3) each, so half the interval is 2.776 (4 degrees) times 0.1 sqrt(2/3) = 0.2267.
	want := []string{"rate, DP-SGD", "IMDB", "1", "+2.00 [+1.77,\u00a0+2.23]", "–", "0.00 [−0.23,\u00a0+0.23]"}
	if !ok || len(table.Rows) != 1 || !slices.Equal(table.Rows[0], want) {
		t.Errorf("%q", table.Rows)
	}
	s.Accountings = s.Accountings[:1]
	if r, err = collect(s, given); err != nil {
		t.Fatal(err)
	}
	if _, ok := r.gainsTable(f); ok {
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
	r, err := collect(s, given)
	if err != nil {
		t.Fatal(err)
	}
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
