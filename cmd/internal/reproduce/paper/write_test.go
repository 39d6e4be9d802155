package paper

import (
	"context"
	"encoding/csv"
	"errors"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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
	drawn, err := r.drawAll(in)
	if err != nil {
		t.Fatal(err)
	}
	html, err := newPage(in, r, drawn).render()
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
	for _, name := range []string{"figures/mnist_novel_x", "figures/figure_tune_lr_dp_sgd", "figures/figure_tune_lr_dp_sgd_paper", "figures/figure_tune_lr_dp_sgd_best"} {
		for _, extension := range []string{"csv", "pdf", "png", "svg"} {
			want = append(want, name+"."+extension)
		}
	}
	want = append(want, "tables/results.csv", "index.html")
	slices.Sort(want)
	if got := slices.Sorted(maps.Keys(files)); !slices.Equal(got, want) {
		t.Errorf("files %v, want %v", got, want)
	}
	if one := files["figures/figure_tune_lr_dp_sgd_paper.csv"]; strings.Contains(one, ",best,") || !strings.Contains(one, ",paper,") {
		t.Error("the figure by the paper's accounting has other runs")
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

// By hand: accuracies 0.5 and 0.6 have mean 55 %, standard error 5 and an interval of 12.706 times that to each side.
// The CSV file has a row for each run.
func TestPointsAreThoseOfTheRuns(t *testing.T) {
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
	drawn := collect(in.Selection, given).draw(f)
	if rows := drawn.Table(); len(rows) != 1+2*3 || rows[1][slices.Index(rows[0], "method")] != "baseline" || rows[1][slices.Index(rows[0], "accuracy")] != "0.5" {
		t.Errorf("rows %q", rows)
	}
	panel := drawn.(figure.Comparison).Panels[0]
	if panel.Note != "0 to 2 full runs a point; paper accounting" {
		t.Errorf("note %q", panel.Note)
	}
	in.Selection.Accountings = []string{"paper", "best"}
	r := collect(in.Selection, slices.DeleteFunc(given, func(r campaign.Result) bool { return r.Repetition == 2 }))
	r.planned = map[campaign.Cell]float64{given[0].Cell: 99}
	both := r.draw(Figures()[5]).(figure.Comparison)
	if p := both.Panels[0]; p.Note != "0 to 1 full runs a point" || p.Series[0].Accounting != 0 || p.Series[1].Accounting != 1 || both.Panels[1].Note != "" {
		t.Errorf("note %q, then %q; accountings %v", p.Note, both.Panels[1].Note, p.Series)
	}
	for _, s := range both.Panels[1].Series {
		if s.Points[0].Y == 99 {
			t.Error("a point with runs is drawn at its planned noise")
		}
	}
	for _, s := range panel.Series {
		method, p := campaign.Methods()[s.Method], s.Points[0]
		if want := map[bool]float64{false: 2, true: 1.25}[method == campaign.Single]; p.X != want {
			t.Errorf("%s is drawn at %v", method, p.X)
		}
		if method == campaign.Variant2 {
			if !math.IsNaN(p.Y) || len(p.Runs) > 0 {
				t.Errorf("a cell without runs is drawn: %+v", p)
			}
		} else if math.Abs(p.Y-55) > 1e-12 || math.Abs(p.Half-5*12.7062) > 1e-3 || len(p.Runs) != 2 || math.Abs(p.Runs[1]-60) > 1e-12 {
			t.Errorf("%s: %+v", method, p)
		}
	}
}

// A seeded campaign can be repeated to the byte, on another day and machine load.
func TestSeededCampaignsAreRepeatable(t *testing.T) {
	in := small()
	in.Figures = in.Figures[2:3]
	seed := uint64(7)
	in.Results, in.Seed = invent(in.Figures, in.Selection, nil), &seed
	dirs := []string{filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")}
	for i, dir := range dirs {
		if i == 1 {
			for k := range in.Results {
				in.Results[k].Seconds *= 1 + 0.01*float64(k)
				in.Results[k].ProcessorSeconds = float64(k)
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
		if first[name] != second[name] {
			t.Errorf("%s differs", name)
		}
	}
	page := first["index.html"]
	for want, is := range map[string]bool{
		"guarantee nothing": true, "seed 7": true, "2026-11-23": false,
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
	quick.Quick = "5 % of the epochs"
	empty := in
	empty.Results = nil
	for name, c := range map[string]struct {
		in    Input
		says  []string
		never []string
	}{
		"full size": {in, []string{"2026-11-23", "key of its own for each run", "No cell is missing", "3 full runs a point", "96 of 96 runs"}, []string{"no evidence", "guarantee nothing", "Void", "No runs yet"}},
		"quick":     {quick, []string{"A small version, no evidence", "5 % of the epochs", "3 quick runs a point"}, nil},
		"no runs":   {empty, []string{"No runs yet", "no runs", "no values", "mnist_v1_paper_eps4: 0 of 3 runs"}, []string{"NaN", "No cell is missing"}},
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
			drawn := collect(s, given).draw(f)
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
