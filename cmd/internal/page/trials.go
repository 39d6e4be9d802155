package page

import (
	"fmt"
	"strconv"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/train"
	"github.com/dptrain/dptrain/tuner"
)

// privatePage is the data of the template of private pages.
type privatePage struct {
	Title string
	Runs  []privateRun
}

type privateRun struct {
	Number   int
	ID, Name string
	Tuned    bool
	Notes    []string
	Facts    release.Facts
	Columns  []string
	Rows     []privateRow
	Figures  []chart
}

type privateRow struct {
	Name    string // of the trial
	Cells   []string
	Outcome string // a score, or the failure
	Seconds string
	Class   string // winner, final, lost
	Note    string
}

// Private returns the page of the data that no guarantee covers. It leaves out a run without a private folder, whose
// entry is nil; without any run the page is nil.
func Private(runs []Run, private []*PrivateRun) ([]byte, error) {
	var p privatePage
	for i, r := range runs {
		if private[i] == nil {
			continue
		}
		v := private[i].page(r, runID(i))
		if len(runs) > 1 {
			v.Number = i + 1
		}
		p.Runs = append(p.Runs, v)
	}
	switch len(p.Runs) {
	case 0:
		return nil, nil
	case 1:
		p.Title = p.Runs[0].Name
	default:
		p.Title = fmt.Sprintf("%d runs", len(p.Runs))
	}
	return render("private", p)
}

func (p *PrivateRun) page(r Run, id string) privateRun {
	v := privateRun{ID: id, Name: r.Name, Notes: p.Notes, Tuned: r.Privacy.Tuning != nil}
	metric := train.Metric("")
	if r.Score != nil {
		metric = r.Score.Metric
	}
	v.Facts = p.facts(v.Tuned)
	if v.Tuned {
		v.table(p, r, metric)
		if len(p.Trials) > 0 {
			v.Figures = append(v.Figures, p.scores(r, metric))
		}
	}
	return v
}

func (p *PrivateRun) facts(tuned bool) release.Facts {
	if !tuned {
		return release.Facts{{"time", secondsText(p.Seconds)}}
	}
	total, failed := 0.0, 0
	for _, t := range p.Trials {
		total += t.Seconds
		if t.Score == nil {
			failed++
		}
	}
	facts := release.Facts{{"trials", release.Grouped(len(p.Trials))}}
	if failed > 0 {
		facts.Add("without a score", release.Grouped(failed))
	}
	if len(p.Trials) == 0 {
		facts.Add("winner", "none: no trial was drawn, so the first candidate was used")
	}
	return append(facts,
		release.Fact{"samples tuned on", release.Grouped(p.SubsetSize)},
		release.Fact{"time, all trials", secondsText(total) + ", added up"},
		release.Fact{"time, final run", secondsText(p.FinalSeconds)})
}

// column is a hyperparameter of trials.
type column struct {
	name  string
	value func(tuner.Candidate) float64
}

var columns = []column{
	{"learning rate", func(c tuner.Candidate) float64 { return c.LearningRate }},
	{"sampling rate", func(c tuner.Candidate) float64 { return c.SamplingRate }},
	{"steps", func(c tuner.Candidate) float64 { return float64(c.Steps) }},
	{"noise", func(c tuner.Candidate) float64 { return c.NoiseMultiplier }},
	{"clipping norm", func(c tuner.Candidate) float64 { return c.ClippingNorm }},
}

// table fills in a row for each trial and one for the final run. Its hyperparameters are the learning rate and all that
// differ.
func (v *privateRun) table(p *PrivateRun, r Run, metric train.Metric) {
	var shown []column
	for i, c := range columns {
		differs := i == 0
		for _, t := range p.Trials {
			differs = differs || c.value(t.Candidate) != c.value(p.Trials[0].Candidate)
		}
		if differs {
			shown = append(shown, c)
			v.Columns = append(v.Columns, c.name)
		}
	}
	add := func(row privateRow, of tuner.Candidate) {
		for _, c := range shown {
			row.Cells = append(row.Cells, short(c.value(of)))
		}
		v.Rows = append(v.Rows, row)
	}
	for i, t := range p.Trials {
		row := privateRow{Name: strconv.Itoa(i + 1), Outcome: lost(t), Seconds: secondsText(t.Seconds)}
		if row.Outcome != "" {
			row.Class = "lost"
		} else {
			row.Outcome = scoreText(&release.Score{Metric: metric, Value: *t.Score})
		}
		if i == p.Best {
			row.Class, row.Note = "winner", "winner"
		}
		add(row, t.Candidate)
	}
	if r.Privacy.Tuning.Method != "baseline" { // whose winner is the released model
		h := r.Hyperparameters
		add(privateRow{Name: "final", Outcome: scoreText(r.Score), Seconds: secondsText(p.FinalSeconds), Class: "final", Note: "released"},
			tuner.Candidate{LearningRate: h.LearningRate, SamplingRate: h.SamplingRate, Steps: h.Steps, NoiseMultiplier: h.NoiseMultiplier, ClippingNorm: h.ClippingNorm})
	}
}
