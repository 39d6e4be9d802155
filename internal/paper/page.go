package paper

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/internal/campaign"
	"github.com/dptrain/dptrain/internal/figure"
	"github.com/dptrain/dptrain/internal/page/sheet"
)

//go:embed page.css
var styleSource string

//go:embed page.html.tmpl
var pageSource string

var style = sheet.Style(styleSource)

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"plain": sheet.Plain,
	"label": markup,
	"class": func(v Verdict) string { return strings.ReplaceAll(string(v), " ", "-") },
}).Parse(strings.NewReplacer("OPENING", sheet.Opening("dptrain reproduce"), "STYLE", style, "POLICY", sheet.Policy(style)).Replace(pageSource)))

// page is what the template shows.
type page struct {
	Quick    string
	Seeded   bool
	Program  string
	Runs     int
	Facts    []fact
	Missing  []string
	More     int // of the missing cells, which aren't listed
	Verdicts []verdictCount
	Multiple string
	Figures  []pageFigure
	Tables   []pageTable
	Gains    *pageTable
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
	Wide     bool // panels are small, so that more of them are side by side
	Columns  int
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

type pageTable struct {
	Table
	Right []bool
}

// maxMissing is the maximum number of missing cells that a page lists.
const maxMissing = 40

func newPage(in Input, r *results, drawn []drawnFigure, tables []Table, outcomes []Outcome) page {
	p := page{Quick: in.Quick, Seeded: r.seeded, Program: in.Program, Runs: len(r.all), Facts: r.facts(in), Multiple: multiplicity(outcomes), Differs: differs(r.Accountings)}
	count := map[Verdict]int{}
	for _, o := range outcomes {
		count[o.Verdict]++
	}
	for _, v := range []Verdict{Seen, NotSeen, Open, NoRuns} {
		p.Verdicts = append(p.Verdicts, verdictCount{v, count[v]})
	}
	p.Missing = r.missing(in.Figures)
	if len(p.Missing) > maxMissing {
		p.More = len(p.Missing) - maxMissing
		p.Missing = p.Missing[:maxMissing]
	}
	for _, d := range drawn {
		p.Figures = append(p.Figures, r.pageFigure(d, outcomes))
	}
	for _, t := range tables {
		if t.Name == "claims" || t.Name == "times" && r.seeded {
			continue
		}
		shown := pageTable{t, t.RightAligned()}
		if t.Name == "accounting_gains" {
			p.Gains = &shown
			continue
		}
		p.Tables = append(p.Tables, shown)
	}
	return p
}

func (r *results) pageFigure(d drawnFigure, outcomes []Outcome) pageFigure {
	key, panels := figure.Inline(d.picture)
	out := pageFigure{Figure: d.Figure, Key: template.HTML(key.SVG), Wide: d.Detailed} //nolint:gosec // made by package figure, which escapes texts
	for _, p := range panels {
		out.Panels = append(out.Panels, template.HTML(p.SVG)) //nolint:gosec // likewise
	}
	if d.Detailed {
		out.Columned = fmt.Sprintf("of-%d", len(d.columns()))
	}
	if d.Trains() {
		have, want := r.count(d.Figure)
		out.Runs = fmt.Sprintf("%s of %s runs", grouped(have), grouped(want))
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

// count returns how many runs a figure has, and how many it needs.
func (r *results) count(f Figure) (have, want int) {
	tasks := f.Tasks(r.Selection)
	for cell := range cellsOf(tasks) {
		have += len(r.byCell[cell])
	}
	return have, len(tasks)
}

func cellsOf(tasks []campaign.Task) map[campaign.Cell]int {
	cells := map[campaign.Cell]int{}
	for _, t := range tasks {
		cells[t.Cell]++
	}
	return cells
}

// missing describes cells with fewer runs than the selection has repetitions.
func (r *results) missing(figures []Figure) []string {
	var lines []string
	seen := map[campaign.Cell]bool{}
	for _, f := range figures {
		for _, t := range f.Tasks(r.Selection) {
			if n := len(r.byCell[t.Cell]); n < r.Repetitions && !seen[t.Cell] {
				lines = append(lines, fmt.Sprintf("%s, %s, %s, %s accounting, ε = %s: %d of %d runs",
					f.group(), DatasetName(t.Dataset), t.Method, t.Accounting, number(t.Epsilon), n, r.Repetitions))
			}
			seen[t.Cell] = true
		}
	}
	return lines
}

// facts say what was run. Days aren't repeatable, so a seeded campaign's page has none.
func (r *results) facts(in Input) []fact {
	distinct := func(of func(campaign.Result) string) string {
		found := map[string]int{}
		for _, result := range r.all {
			if text := of(result); text != "" {
				found[text]++
			}
		}
		var texts []string
		for _, text := range slices.Sorted(maps.Keys(found)) {
			if len(found) > 1 {
				text += fmt.Sprintf(" (%s runs)", grouped(found[text]))
			}
			texts = append(texts, text)
		}
		return strings.Join(texts, "; ")
	}
	names := make([]string, 0, len(r.Datasets))
	for _, d := range r.Datasets {
		names = append(names, DatasetName(d))
	}
	facts := []fact{
		{"data sets", strings.Join(names, ", ")},
		{"epsilon", list(r.Epsilons, ", ") + " for tuning and final training together, at delta 10⁻⁵"},
		{"accountings", strings.Join(r.Accountings, ", ")},
		{"repetitions", fmt.Sprintf("%d of each cell", r.Repetitions)},
		{"trained by", distinct(func(r campaign.Result) string { return r.MadeBy })},
		{"on", distinct(func(r campaign.Result) string { return r.Machine })},
	}
	if r.seeded {
		facts = append(facts, fact{"randomness", r.seeds(in)})
	} else {
		facts = append(facts, fact{"randomness", "of the operating system, a key of its own for each run"})
		if days := r.days(); days != "" {
			facts = append(facts, fact{"days", days})
		}
	}
	facts = append(facts, fact{"figures by", in.Program})
	return slices.DeleteFunc(facts, func(f fact) bool { return f.Text == "" })
}

// days returns the first and the last day on which a run began.
func (r *results) days() string {
	var days []string
	for _, result := range r.all {
		if result.Day != "" {
			days = append(days, result.Day)
		}
	}
	if len(days) == 0 {
		return ""
	}
	first, last := slices.Min(days), slices.Max(days)
	if first == last {
		return first
	}
	return first + " to " + last
}

// seeds says what the random draws came from.
func (r *results) seeds(in Input) string {
	without := 0
	distinct := map[uint64]bool{}
	for _, result := range r.all {
		if result.Seed == nil {
			without++
		} else {
			distinct[*result.Seed] = true
		}
	}
	text := fmt.Sprintf("%s seeds, which the runs' folders have", grouped(len(distinct)))
	if in.Seed != nil {
		text = fmt.Sprintf("seed %d of the campaign, from which those of the runs follow", *in.Seed)
	} else if all := slices.Sorted(maps.Keys(distinct)); len(all) <= 12 {
		text = strings.TrimSpace("seeds " + strings.Trim(fmt.Sprint(all), "[]"))
	}
	if without > 0 {
		text += fmt.Sprintf("; the operating system's for %s runs", grouped(without))
	}
	return text
}

// markup turns a label into HTML: *x* is a variable, ^x^ a superscript.
func markup(label string) template.HTML {
	var out strings.Builder
	italic, raised := false, false
	text := template.HTMLEscapeString(sheet.Plain(label))
	for _, c := range text {
		switch c {
		case '*':
			out.WriteString(map[bool]string{false: "<var>", true: "</var>"}[italic])
			italic = !italic
		case '^':
			out.WriteString(map[bool]string{false: "<sup>", true: "</sup>"}[raised])
			raised = !raised
		default:
			out.WriteRune(c)
		}
	}
	if italic {
		out.WriteString("</var>")
	}
	if raised {
		out.WriteString("</sup>")
	}
	return template.HTML(out.String()) //nolint:gosec // all but the two tags is escaped
}

func (p page) render() ([]byte, error) {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, "page", p); err != nil {
		return nil, fmt.Errorf("make the page: %w", err)
	}
	return b.Bytes(), nil
}
