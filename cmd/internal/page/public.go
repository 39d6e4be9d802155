package page

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/dptrain/dptrain/cmd/internal/release"
)

// publicPage is the data of the template of public pages.
type publicPage struct {
	Title      string
	Comparison *comparison // nil for one run
	Runs       []publicRun
}

type publicRun struct {
	Number          int // 0 on a page of one run
	ID, Name        string
	Lede            string
	Void            bool
	Warnings        []string
	Key             []keyFact
	Factor          string // e to the power of epsilon
	Neighbour       string // the excess of one of two neighbours
	Estimate        string // the confidence of a noisy score
	Statement       string // STATEMENT.md
	Costs           *chart // nil for none
	Missing         string // the reason why there is none
	Plan            release.Facts
	Hyperparameters release.Facts
	Learning        *chart // nil for no learning curve
	Model           release.Facts
	Classes         []string
	Scores          release.Facts // on the public test set; nil if the manifest has none
	Confusion       [][]string    // with a line of headings; nil for none
	Files           []File
}

// keyFact is a number that stands out.
type keyFact struct {
	Name, Value string
	Variable    bool // Name is a variable
}

// Public returns the page of one run or of several, made from public values alone. costs has the accounting of each
// run.
func Public(runs []Run, costs []Accounting) ([]byte, error) {
	p := publicPage{Title: runs[0].Name}
	if len(runs) > 1 {
		p.Title, p.Comparison = fmt.Sprintf("%d runs compared", len(runs)), compare(runs)
	}
	for i, r := range runs {
		v := r.public(costs[i], runID(i))
		if len(runs) > 1 {
			v.Number = i + 1
		}
		p.Runs = append(p.Runs, v)
	}
	return render("public", p)
}

func (r Run) public(a Accounting, id string) publicRun {
	v := publicRun{
		ID: id, Name: r.Name, Lede: r.lede(), Void: r.Void, Warnings: r.Privacy.Weaknesses(), Key: r.key(), Factor: factorText(r.Privacy.Epsilon), Neighbour: r.Privacy.Neighbour(), Estimate: r.estimate(), Statement: r.Statement,
		Costs: a.chart(r.Privacy), Missing: a.Missing,
		Plan: planFacts(r), Hyperparameters: hyperparameterFacts(r), Model: modelFacts(r),
		Learning: r.learning(), Classes: r.Model.Classes, Files: r.Files,
	}
	if m := r.Manifest; m != nil && m.Evaluation != nil {
		var e release.Evaluation
		if json.Unmarshal(m.Evaluation, &e) == nil {
			v.Scores, v.Confusion = e.Facts(), e.Matrix()
		}
	}
	if r.Model.Warning != "" {
		v.Warnings = append(v.Warnings, r.Model.Warning)
	}
	return v
}

// lede describes the run in a sentence.
func (r Run) lede() string {
	model, samples := r.Model.Network, release.Grouped(r.Privacy.Samples)
	switch {
	case r.Privacy.ByRule:
		return fmt.Sprintf("Model %s for %s, trained on %s samples with differential privacy, with hyperparameters from public numbers.", model, dataText(r.Model), samples)
	case r.Privacy.Tuning == nil:
		return fmt.Sprintf("Model %s for %s, trained on %s samples with differential privacy. No search for hyperparameters is covered.", model, dataText(r.Model), samples)
	case r.Privacy.Tuning.Method == "baseline":
		return fmt.Sprintf("Model %s for %s, the best of several trained on %s samples: one guarantee of differential privacy covers them all.", model, dataText(r.Model), samples)
	}
	return fmt.Sprintf("Model %s for %s, tuned and trained on %s samples: one guarantee of differential privacy covers both.", model, dataText(r.Model), samples)
}

func (r Run) key() []keyFact {
	name := "score"
	if r.Score != nil {
		name = string(r.Score.Metric)
	}
	return []keyFact{
		{name, scoreText(r.Score), false},
		{"ε", release.Up(r.Privacy.Epsilon), true},
		{"δ", exact(r.Privacy.Delta), true},
		{"training samples", release.Grouped(r.Privacy.Samples), false},
	}
}

// estimate describes the confidence of a score on held-out samples; "" for a score on a public test set.
func (r Run) estimate() string {
	t := r.Privacy.Tuning
	if r.Score == nil || t == nil || t.HeldOut == nil || t.HeldOut.Interval == nil {
		return ""
	}
	low, high := *r.Score, *r.Score
	low.Value, high.Value = t.HeldOut.Interval[0], t.HeldOut.Interval[1]
	return fmt.Sprintf("The score is an estimate from held-out samples, with noise; its 95 %% interval is %s to %s.", scoreText(&low), scoreText(&high))
}

// factorText prints e to the power of epsilon, rounded up. It returns "" if the number would be too long to read.
func factorText(epsilon float64) string {
	if epsilon > 1e6 {
		return ""
	}
	if factor := math.Exp(epsilon); factor < 1e6 {
		return rounded(math.Nextafter(factor, math.Inf(1)))
	}
	return power(fmt.Sprintf("1e%.0f", math.Ceil(epsilon/math.Ln10)))
}
