package paper

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/cmd/internal/figure"
	"github.com/dptrain/dptrain/cmd/internal/reproduce/campaign"
)

// fewBounds returns so few bounds of compare_dp_bounds that they take no time.
var fewBounds = sync.OnceValue(func() *figure.Bounds {
	s := figure.PaperBounds()
	s.SubsetRates = []float64{0.01, 0.05, 0.1, 0.2, 0.5, 0.9}
	s.Modes = []accountant.Mode{accountant.Paper, accountant.Tight}
	b, err := figure.ComputeBounds(context.Background(), s, nil)
	if err != nil {
		panic(err)
	}
	return &b
})

// small is the input of a small campaign: two figures that train and both that don't, two data sets.
func small() Input {
	figures := Figures()
	chosen := []Figure{figures[0], figures[1], figures[2], figures[7]}
	s := Selection{Datasets: []string{"mnist", "imdb"}, Epsilons: []float64{1, 4}, Accountings: []string{"paper", "best"}, Repetitions: 3}
	return Input{Figures: chosen, Selection: s, Results: invent(chosen, s, nil), Program: "dptrain v0.1.0 (abcdef0)", Bounds: fewBounds()}
}

// pageOf returns the page of an input, whose pictures aren't encoded.
func pageOf(t *testing.T, in Input) string {
	t.Helper()
	r := in.results()
	drawn, outcomes, err := r.drawAll(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := r.tables(in.Figures, outcomes)
	if err != nil {
		t.Fatal(err)
	}
	html, err := newPage(in, r, drawn, tables, outcomes).render()
	if err != nil {
		t.Fatal(err)
	}
	return string(html)
}

func filesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(name)] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// All files are there and nothing else, the page's links lead to them, and an older campaign's files are replaced.
func TestWriteMakesAllFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "campaign")
	in := small()
	in.Figures = in.Figures[1:3]
	if err := os.MkdirAll(filepath.Join(dir, "figures"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, old := range []string{"index.html", "figures/mnist_novel_x.csv"} {
		if err := os.WriteFile(filepath.Join(dir, old), []byte("old"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	page, err := Write(t.Context(), dir, in)
	if err != nil || page != filepath.Join(dir, "index.html") {
		t.Fatalf("%s, %v", page, err)
	}
	files := filesIn(t, dir)
	var want []string
	for _, name := range []string{"figures/mnist_novel_x", "figures/figure_tune_lr_dp_sgd"} {
		for _, extension := range []string{"csv", "pdf", "png", "svg"} {
			want = append(want, name+"."+extension)
		}
	}
	for _, name := range []string{"savings", "times", "accounting_gains", "claims", "results"} {
		want = append(want, "tables/"+name+".csv")
	}
	want = append(want, "index.html")
	slices.Sort(want)
	if got := slices.Sorted(maps.Keys(files)); !slices.Equal(got, want) {
		t.Errorf("files %v, want %v", got, want)
	}
	if rows := strings.Count(files["tables/results.csv"], "\n"); rows != 1+len(in.Results) {
		t.Errorf("%d lines of results", rows)
	}
	for name, content := range files {
		if content == "old" || content == "" {
			t.Errorf("%s: %q", name, content)
		}
		if strings.HasSuffix(name, ".csv") {
			if rows, err := csv.NewReader(strings.NewReader(content)).ReadAll(); err != nil || len(rows) < 2 {
				t.Errorf("%s: %d rows, %v", name, len(rows), err)
			}
		}
	}
	for _, link := range regexp.MustCompile(`(?:href|src)="([^"]*)"`).FindAllStringSubmatch(files["index.html"], -1) {
		if id, ok := strings.CutPrefix(link[1], "#"); ok {
			if !strings.Contains(files["index.html"], `id="`+id+`"`) {
				t.Errorf("nothing is at %s", link[1])
			}
		} else if _, ok := files[link[1]]; !ok {
			t.Errorf("no file %s", link[1])
		}
	}
}

// The CSV file has the means of the runs, by hand: accuracies 0.5 and 0.6 have mean 0.55 and standard error 0.05.
func TestNumbersAreThoseOfTheRuns(t *testing.T) {
	in := small()
	in.Selection = Selection{Datasets: []string{"mnist"}, Epsilons: []float64{2}, Accountings: []string{"paper"}, Repetitions: 2}
	f := in.Figures[2]
	given := invent([]Figure{f}, in.Selection, func(t campaign.Job) bool { return t.Method == campaign.Variant2 })
	for i := range given {
		given[i].Accuracy = 0.4 + 0.1*float64(given[i].Repetition)
		given[i].Epsilon = 2
		if given[i].Method == campaign.Single {
			given[i].Epsilon = 1.25
		}
	}
	drawn, err := collect(in.Selection, given).draw(f)
	if err != nil {
		t.Fatal(err)
	}
	rows := drawn.Table()
	cell := func(row int, name string) string { return rows[row][slices.Index(rows[0], name)] }
	if len(rows) != 5 {
		t.Fatalf("%d rows", len(rows))
	}
	for name, want := range map[string]string{
		"dataset": "mnist", "method": "v1", "accounting": "paper", "epsilon": "2", "delta": "1e-05", "subset_rate": "0.1", "mean_trials": "15",
		"nominal_sampling_rate": "0.0213", "nominal_epochs": "40", "clipping_norm": "1", "runs": "2", "accuracy_mean": "0.55", "own_epsilon_standard_error": "0",
	} {
		if got := cell(1, name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if got, err := strconv.ParseFloat(cell(1, "accuracy_standard_error"), 64); err != nil || math.Abs(got-0.05) > 1e-12 {
		t.Errorf("standard error %v, %v", got, err)
	}
	if cell(2, "method") != "v2" || cell(2, "runs") != "0" || cell(2, "accuracy_mean") != "" {
		t.Errorf("a cell without runs: %q", rows[2])
	}
	if cell(4, "method") != "single" || cell(4, "own_epsilon_mean") != "1.25" {
		t.Errorf("a single run: %q", rows[4])
	}
	one := campaign.Result{
		Job: given[0].Job, Epsilon: 1.5, Accuracy: 0.2, NoiseMultiplier: 3, LearningRate: 4, TunedLearningRate: 5, SamplingRate: 0.6, ClippingNorm: 1,
		Steps: 7, Trials: 8, Gradients: 9, Seconds: 10,
	}
	all := collect(in.Selection, []campaign.Result{one})
	table := all.resultsTable().Numbers
	if got := fmt.Sprint(table[0][9:], table[1][9:]); got !=
		"[own_epsilon accuracy noise_multiplier learning_rate tuned_learning_rate sampling_rate steps trials gradients] [1.5 0.2 3 4 5 0.6 7 8 9]" {
		t.Errorf("results.csv: %s", got)
	}
	c := drawn.(figure.Comparison)
	for _, s := range c.Panels[0].Series {
		if want := map[int]float64{0: 2, 1: 2, 2: 2, 3: 1.25}[s.Method]; s.Points[0].X != want {
			t.Errorf("%s is drawn at %v", c.Methods[s.Method], s.Points[0].X)
		}
	}
}

// A seeded campaign can be repeated to the byte, on another day and machine load; only its times differ.
func TestSeededCampaignsAreRepeatable(t *testing.T) {
	in := small()
	in.Figures = in.Figures[2:3]
	in.Selection.Datasets = []string{"cifar-10"} // about whose times the paper says something
	seed := uint64(7)
	in.Results, in.Seed = invent(in.Figures, in.Selection, nil), &seed
	dirs := []string{filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")}
	for i, dir := range dirs {
		if i == 1 {
			for k := range in.Results {
				in.Results[k].Seconds *= 1 + 0.01*float64(k)
				in.Results[k].Day = "2027-01-01"
			}
			slices.Reverse(in.Results)
		}
		if _, err := Write(t.Context(), dir, in); err != nil {
			t.Fatal(err)
		}
	}
	first, second := filesIn(t, dirs[0]), filesIn(t, dirs[1])
	for name := range first {
		if differs := first[name] != second[name]; differs != strings.HasPrefix(name, "tables/times.") {
			t.Errorf("%s differs: %v", name, differs)
		}
	}
	page := first["index.html"]
	for want, is := range map[string]bool{
		"guarantee nothing": true, "times as many gradients": true, "seed 7": true,
		"2026-11-23": false, "as long": false, "Seconds of training": false, "times the time": false,
	} {
		if strings.Contains(page, want) != is {
			t.Errorf("the page says %q: %v", want, !is)
		}
	}
}

// What a page must say, and must not.
func TestPagesSayWhatTheyAre(t *testing.T) {
	in := small()
	quick := in
	quick.Quick, quick.Epochs, quick.Trials = "5 % of the epochs", 0.05, 0.2
	empty := in
	empty.Results = nil
	for name, c := range map[string]struct {
		in    Input
		says  []string
		never []string
	}{
		"full size": {in, []string{"as long", "2026-11-23", "key of its own for each run", "No cell is missing", "Seconds of training", "What better bounds buy"}, []string{"no evidence", "guarantee nothing", "Void"}},
		"quick":     {quick, []string{"A small version, no evidence", "5 % of the epochs", "runs are smaller than the paper"}, nil},
		"no runs":   {empty, []string{"0 of 3 runs", "no runs", "no values", "ε = 4: 0 of 3 runs"}, []string{"NaN", "No cell is missing"}},
	} {
		page := pageOf(t, c.in)
		for _, text := range c.says {
			if !strings.Contains(page, text) {
				t.Errorf("%s doesn't say %q", name, text)
			}
		}
		for _, text := range c.never {
			if strings.Contains(page, text) {
				t.Errorf("%s says %q", name, text)
			}
		}
	}
}

// The input's texts, such as names of programs and machines, are escaped.
func TestHostileTextsAreEscaped(t *testing.T) {
	const hostile = "</style><script>alert(1)</script><img src=x onerror=alert(1)>\"'&\u202e\x1b[31m"
	in := small()
	in.Quick, in.Program = hostile, hostile
	for i := range in.Results {
		in.Results[i].Machine, in.Results[i].MadeBy, in.Results[i].Day = hostile, hostile, hostile
	}
	page := pageOf(t, in)
	for _, bad := range []string{"<script", "<img", "\u202e", "\x1b"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
}

func TestWriteIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Write(ctx, t.TempDir(), small()); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// Every figure of the catalogue can be drawn, in any selection of data sets.
func TestEveryFigureIsDrawn(t *testing.T) {
	for _, datasets := range [][]string{{"glyphs"}, {"mnist", "cifar-10", "imdb"}, Datasets()} {
		s := PaperSelection()
		s.Datasets, s.Repetitions = datasets, 1
		for _, f := range Figures() {
			if !f.Trains() {
				continue
			}
			given := invent([]Figure{f}, s, nil)
			drawn, err := collect(s, given).draw(f)
			if err != nil {
				t.Fatalf("%s of %v: %v", f.Label, datasets, err)
			}
			_, panels := figure.Inline(drawn)
			if want := len(datasets) * len(f.columns()); len(panels) != want {
				t.Errorf("%s of %v: %d panels, want %d", f.Label, datasets, len(panels), want)
			}
			for _, p := range panels { // fonts of PDF files have no other letters
				if at := strings.IndexFunc(string(p), func(r rune) bool { return r > unicode.MaxASCII }); at >= 0 {
					t.Errorf("%s of %v: %.40s", f.Label, datasets, p[at:])
				}
			}
		}
	}
}
