package paper

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/cmd/internal/figure"
	"github.com/dptrain/dptrain/cmd/internal/page/sheet"
	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/internal/show"
)

//go:embed page.css
var styleSource string

//go:embed page.html.tmpl
var pageSource string

var style = sheet.Style(styleSource)

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"plain": show.Printable,
	// whole keeps DP-SGD from breaking at its hyphen.
	"whole": func(title string) string { return strings.ReplaceAll(title, "DP-", "DP\u2011") },
	"class": func(v Verdict) string { return strings.ReplaceAll(string(v), " ", "-") },
}).Parse(strings.NewReplacer("OPENING", sheet.Opening("dptrain reproduce"), "STYLE", style, "POLICY", sheet.Policy(style)).Replace(pageSource)))

// page is the template's data.
type page struct {
	Quick    string
	Seeded   bool
	Program  string
	Runs     int
	Others   string // data sets that aren't the paper's
	Absent   string // data sets of the paper that weren't selected
	Facts    []fact
	Missing  []string
	Verdicts []verdictCount
	Multiple string
	Figures  []pageFigure
	Tables   []Table
	Gains    *Table
	Differs  []string
}

type fact struct{ Name, Text string }

type verdictCount struct {
	Verdict Verdict
	Count   int
}

type pageFigure struct {
	Figure
	Key      template.HTML
	Panels   []template.HTML
	Wide     bool // whether panels are small, so that more of them are side by side
	Columned string
	Runs     string
	Claims   []pageClaim
}

// pageClaim is a claim with its outcomes by all accountings.
type pageClaim struct {
	Claim
	Outcomes []Outcome
	Note     string
}

func newPage(in Input, r *results, drawn []drawnFigure, tables []Table, outcomes []Outcome) page {
	p := page{Quick: in.Quick, Seeded: r.seeded, Program: in.Program, Runs: len(r.all), Facts: r.facts(in), Missing: r.missing(in.Figures), Multiple: multiplicity(outcomes), Differs: differs(r.Accountings)}
	p.Others, p.Absent = without(r.Datasets, Datasets()), without(Datasets(), r.Datasets)
	count := map[Verdict]int{}
	for _, o := range outcomes {
		count[o.Verdict]++
	}
	for _, v := range []Verdict{Seen, NotSeen, Open, NoRuns} {
		p.Verdicts = append(p.Verdicts, verdictCount{v, count[v]})
	}
	for _, d := range drawn {
		p.Figures = append(p.Figures, r.pageFigure(d, outcomes))
	}
	for _, t := range tables {
		switch {
		case t.Rows == nil || t.Name == "times" && r.seeded:
		case t.Name == "accounting_gains":
			p.Gains = &t
		default:
			p.Tables = append(p.Tables, t)
		}
	}
	return p
}

// without names the data sets that aren't among others.
func without(datasets, others []string) string {
	var names []string
	for _, d := range datasets {
		if !slices.Contains(others, d) {
			names = append(names, DatasetName(d))
		}
	}
	return strings.Join(names, " and ")
}

func (p page) render() ([]byte, error) {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, "page", p); err != nil {
		return nil, fmt.Errorf("make the page: %w", err)
	}
	return b.Bytes(), nil
}

func (r *results) pageFigure(d drawnFigure, outcomes []Outcome) pageFigure {
	out := pageFigure{Figure: d.Figure, Wide: d.Detailed}
	out.Key, out.Panels = figure.Inline(d.picture)
	if d.Detailed {
		out.Columned = fmt.Sprintf("of-%d", len(d.columns()))
	}
	if d.Trains() {
		have, want := r.count(d.Figure)
		out.Runs = fmt.Sprintf("%s of %s runs, at most %d of each point", release.Grouped(have), release.Grouped(want), r.Repetitions)
	}
	for _, o := range outcomes {
		if o.Figure != d.Label {
			continue
		}
		last := len(out.Claims) - 1
		if last < 0 || out.Claims[last].Label != o.Label {
			out.Claims = append(out.Claims, pageClaim{Claim: o.Claim, Note: o.Note})
			last++
		}
		out.Claims[last].Outcomes = append(out.Claims[last].Outcomes, o)
		if o.Note != "" {
			out.Claims[last].Note = o.Note
		}
	}
	return out
}
