package page

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cmd/internal/release"
)

// Every private file gets unique texts and numbers. None of them may be on the public page. The private page shows some
// of them, so the test would find them.
func TestPublicPageHoldsNothingPrivate(t *testing.T) {
	dir := runFolder(t, "run", aRelease())
	const canary = "c4n4ry"
	write(t, filepath.Join(dir, "private", "run.json"), `{"warning": "c4n4ry-warning", "repetitions": 31337, "subset_size": 271828, "best": 0, "final_seconds": 987.654, "trials": [
		{"learning_rate": 0.0123454321, "score": 0.918273645, "seconds": 4711.5, "failure": ""},
		{"learning_rate": 0.0543212345, "failure": "c4n4ry-failure", "seconds": 815.25}]}`)
	for _, name := range []string{"settings.yaml", "log.txt", "state.bin", "deep/er.json", "STATEMENT.md", "privacy.json", "model.json"} {
		write(t, filepath.Join(dir, "private", name), `{"name": "c4n4ry-`+name+`"}`)
	}
	write(t, filepath.Join(dir, "other.txt"), canary)
	public, private := pages(t, dir)
	for _, secret := range []string{canary, "31337", "31,337", "271828", "271,828", "987.", "0.0123", "0.918", "91.83", "4711", "0.0543"} {
		if strings.Contains(public, secret) {
			t.Errorf("the public page has %q", secret)
		}
	}
	for _, shown := range []string{"c4n4ry-failure", "271,828", "0.0123", "91.83"} {
		if !strings.Contains(private, shown) {
			t.Errorf("the private page lacks %q", shown)
		}
	}
	if !strings.Contains(private, "Private: don’t publish.") || strings.Contains(public, "Private: don’t publish.") {
		t.Error("the banner is on the wrong page")
	}
	// The page is the same without the folder.
	if err := os.RemoveAll(filepath.Join(dir, "private")); err != nil {
		t.Fatal(err)
	}
	if alone, private := pages(t, dir); alone != public || private != "" {
		t.Error("the public page depends on the private folder")
	}
}

var (
	styleSheet = regexp.MustCompile(`(?s)<style>(.*?)</style>`)
	reference  = regexp.MustCompile(`(?i)\s(src|href|srcset|action|poster|data|xlink:href|style|on[a-z]+)\s*=\s*("[^"]*"|[^\s>]+)`)
)

// The page loads nothing, and its policy forbids loading.
func TestPageNeedsNothing(t *testing.T) {
	public, private := pages(t, runFolder(t, "run", aRelease()))
	for name, page := range map[string]string{"public": public, "private": private} {
		sheet := styleSheet.FindStringSubmatch(page)
		if sheet == nil {
			t.Fatalf("%s: no style sheet", name)
		}
		hash := sha256.Sum256([]byte(sheet[1]))
		want := fmt.Sprintf("default-src 'none'; style-src 'sha256-%s'; base-uri 'none'; form-action 'none'", base64.StdEncoding.EncodeToString(hash[:]))
		if !strings.Contains(page, `<meta http-equiv="Content-Security-Policy" content="`+want+`">`) {
			t.Errorf("%s: no policy %s", name, want)
		}
		for _, bad := range []string{"url(", "@import", "<script", "<link", "<img", "<iframe", "<object", "<base", "http:", "https:", "javascript:", "ZgotmplZ"} {
			if strings.Contains(strings.ToLower(page), strings.ToLower(bad)) {
				t.Errorf("%s page has %s", name, bad)
			}
		}
		for _, found := range reference.FindAllString(page, -1) {
			if !strings.Contains(found, `"#`) {
				t.Errorf("%s page has%s", name, found)
			}
		}
	}
}

// All names are text, and stay on their line and in their direction.
func TestHostileNames(t *testing.T) {
	r := aRelease()
	r.Model.Dataset, r.Model.Network, r.Model.Features, r.Model.Task = hostile, hostile, hostile, hostile
	r.Model.Classes = []string{hostile, hostile}
	r.Hyperparameters.Optimizer = hostile
	r.Privacy.Bound, r.Privacy.Accounting = hostile, hostile
	r.Privacy.Tuning.Method, r.Privacy.Tuning.Repetitions = hostile, hostile
	r.Privacy.Tuning.Space.Search = hostile
	r.Privacy.Tuning.Space.Parameters[0].Name = hostile
	dir := runFolder(t, "<img src=x onerror=alert(1)>", r)
	write(t, filepath.Join(dir, "released", "<img src=x onerror=alert(1)>\u202e"), "")
	write(t, filepath.Join(dir, "private", "run.json"), `{"best": -1, "trials": [{"learning_rate": 1, "failure": "<img src=x onerror=alert(1)>\u202e"}]}`)
	public, private := pages(t, dir)
	many, err := Public([]Run{mustOpen(t, dir), mustOpen(t, dir)}, []Accounting{{Missing: hostile}, madeUp()})
	if err != nil {
		t.Fatal(err)
	}
	for name, page := range map[string]string{"public": public, "private": private, "of several": string(many)} {
		for _, bad := range []string{"<img", "</script", "\u202e", "\x1b"} {
			if strings.Contains(page, bad) {
				t.Errorf("%s page has %q", name, bad)
			}
		}
		if !strings.Contains(page, "&lt;img src=x onerror=alert(1)&gt;") {
			t.Errorf("%s page lacks the name", name)
		}
	}
}

// The same release gives the same page, at any time and place.
func TestPagesAreReproducible(t *testing.T) {
	dir := runFolder(t, "run", aRelease())
	public, private := pages(t, dir)
	copied := filepath.Join(t.TempDir(), "run")
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if p, q := pages(t, copied); p != public || q != private {
		t.Error("a copy of the run has other pages")
	}
	// A page beside the release, or in a copied released/, changes nothing.
	write(t, filepath.Join(dir, "released", "report.html"), public)
	write(t, filepath.Join(dir, "report.html"), public)
	if p, _ := pages(t, dir); p != public {
		t.Error("the page lists itself")
	}
}

func TestPublicShowsWarnings(t *testing.T) {
	r := aRelease()
	r.Privacy.Epsilon, r.Privacy.Delta = 20, 0.001
	public, _ := pages(t, runFolder(t, "run", r))
	if strings.Count(public, "<strong>Warning.</strong>") != 2 {
		t.Error("a weak guarantee is shown without two warnings")
	}
	r = aRelease()
	r.Model.Warning = "the model is no better than one answer for every row"
	if public, _ = pages(t, runFolder(t, "useless", r)); !strings.Contains(public, "<strong>Warning.</strong> the model is no better than one answer for every row") {
		t.Error("a useless model is shown without a warning")
	}
}

// The page names the unit that the guarantee protects, and the confidence of a noisy score.
func TestPublicNamesUnitAndInterval(t *testing.T) {
	r := aRelease()
	public, _ := pages(t, runFolder(t, "sample", r))
	if !strings.Contains(public, "One training sample more or less") || strings.Contains(public, "95 % interval") {
		t.Error("a run for samples says otherwise")
	}
	r.Privacy.Unit, r.Privacy.RowsPerUnit = "patient", 5
	if public, _ = pages(t, runFolder(t, "unit", r)); !strings.Contains(public, "One unit (value of column patient) with its at most 5 rows more or less") {
		t.Error("a run for units doesn't say so")
	}
	r = aRelease()
	r.Privacy.Tuning.HeldOut = &release.HeldOut{Rate: 0.1, NoiseMultiplier: 5, Interval: &[2]float64{0.25, 0.75}}
	if public, _ = pages(t, runFolder(t, "heldout", r)); !strings.Contains(public, "25.00 % to 75.00 %") || !strings.Contains(public, "about 6,000 of the rows, private too") {
		t.Error("held-out samples aren't on the page")
	}
}

func TestActivationIsOfModelsThatHaveOne(t *testing.T) {
	r := Run{Model: aRelease().Model}
	for network, want := range map[string]bool{"cnn": true, "mlp:8": true, "linear": false} {
		r.Model.Network = network
		if got := strings.Contains(fmt.Sprint(modelFacts(r)), "activation"); got != want {
			t.Errorf("%s: an activation is shown: %t", network, got)
		}
	}
}

// The page has every line of the statement, as text.
func TestStatementIsWhole(t *testing.T) {
	dir := runFolder(t, "run", aRelease())
	text, err := os.ReadFile(filepath.Join(dir, "released", "STATEMENT.md"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "released", "STATEMENT.md"), string(text)+hostile)
	public, _ := pages(t, dir)
	for line := range strings.Lines(string(text)) {
		if !strings.Contains(html.UnescapeString(public), strings.TrimSpace(line)) {
			t.Errorf("the page doesn't have %q", line)
		}
	}
	if strings.Contains(public, "<img") || strings.Contains(public, "\u202e") {
		t.Error("what is in the statement isn't text")
	}
}

// A comparison has each run's own numbers, and a marker for each data set.
func TestComparedRuns(t *testing.T) {
	a := Run{Hyperparameters: aRelease().Hyperparameters, Privacy: aRelease().Privacy, Score: &release.Score{Metric: "accuracy", Value: 0.5}}
	b := a
	a.Model.Dataset, b.Model.Dataset, a.Hyperparameters.LearningRate = "mnist", "cifar-10", 0.01
	c := compare([]Run{a, b})
	if got := c.Rows[1]; got.Epsilon != "4" || got.Noise != "1.4831" || got.LearningRate != "0.9" || got.Steps != "1,878" {
		t.Errorf("%+v", got)
	}
	f := c.Figures[0]
	if got := strings.Join(f.Rows[1], " "); got != "2 3.999994960513318 50.00 %" || !strings.Contains(string(f.Picture), "#D55E00") {
		t.Errorf("%s: row %s: %s", f.Title, got, f.Picture)
	}
	a.Hyperparameters.Clipping = "automatic"
	if facts := hyperparameterFacts(a); facts[3][1] != "0.0213, which is 1150 samples a step in expectation" || facts[4][1] != "1, automatic" {
		t.Errorf("sampling rate %s, clipping norm %s", facts[3][1], facts[4][1])
	}
}

// Guarantees of runs on the same data add up: 4+1 at 1e-5+2e-5 here.
func TestTotals(t *testing.T) {
	a, b, c := Run{}, Run{}, Run{}
	a.Model.Dataset, a.Privacy = "mnist", aRelease().Privacy
	b.Model.Dataset, b.Privacy = "mnist", aRelease().Privacy
	b.Privacy.Epsilon, b.Privacy.Delta = 1, 2e-5
	c.Model.Dataset, c.Privacy = "cifar-10", aRelease().Privacy
	got := totals([]Run{a, b, c})
	if len(got) != 1 || !strings.Contains(got[0], "at most ε = 5 at δ = 3·10⁻⁵ together") {
		t.Errorf("%q", got)
	}
	d, e := b, b
	d.Model.Dataset, e.Model.Dataset, e.Privacy.Samples = "files", "files", d.Privacy.Samples+1
	if got := totals([]Run{d, d}); len(got) != 1 || !strings.Contains(got[0], "its 2 runs") {
		t.Errorf("%q", got)
	}
	if got := totals([]Run{d, e}); len(got) != 1 || !strings.Contains(got[0], "different numbers of samples add up too") {
		t.Errorf("%q", got)
	}
	b.Void = true
	if got := totals([]Run{a, b, c}); len(got) != 1 || !strings.Contains(got[0], "no guarantee holds") {
		t.Errorf("%q", got)
	}
}
