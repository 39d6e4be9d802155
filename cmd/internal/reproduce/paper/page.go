package paper

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
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
}).Parse(strings.NewReplacer("OPENING", sheet.Opening("dptrain reproduce"), "STYLE", style, "POLICY", sheet.Policy(style)).Replace(pageSource)))

// page is the template's data.
type page struct {
	Quick   string
	Seeded  bool
	Program string
	Runs    int
	Lacks   bool // figures that need runs have none
	Facts   release.Facts
	Missing []string
	Figures []pageFigure
	Differs []string
}

type pageFigure struct {
	Figure
	Key      template.HTML
	Panels   []template.HTML
	Columned string // a class
	Runs     string
	Others   []string // the labels of the same figure by one accounting
}

func newPage(in Input, r *results, drawn []drawnFigure) page {
	p := page{Quick: in.Quick, Seeded: in.Seed != nil, Program: in.Program, Runs: len(r.all), Facts: r.facts(in), Missing: r.missing(in.Figures), Differs: differs(r.Accountings)}
	for _, d := range drawn {
		if d.single {
			last := &p.Figures[len(p.Figures)-1]
			last.Others = append(last.Others, d.Label)
			continue
		}
		out := pageFigure{Figure: d.Figure}
		out.Key, out.Panels = figure.Inline(d.picture)
		if d.Detailed {
			out.Columned = fmt.Sprintf("small of-%d", len(d.columns()))
		}
		if d.Trains() {
			out.Runs = fmt.Sprintf("%s of %s runs.", release.Grouped(len(r.runs(d.Figure))), release.Grouped(len(d.Jobs(r.Selection))))
			p.Lacks = p.Lacks || len(r.all) == 0
		}
		p.Figures = append(p.Figures, out)
	}
	return p
}

func (p page) render() ([]byte, error) {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, "page", p); err != nil {
		return nil, fmt.Errorf("make the page: %w", err)
	}
	return b.Bytes(), nil
}
