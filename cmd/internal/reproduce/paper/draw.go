package paper

import (
	"slices"

	"github.com/dptrain/dptrain/cmd/internal/figure"
	"github.com/dptrain/dptrain/cmd/internal/reproduce/campaign"
)

// column is a quantity that a figure shows over epsilon.
type column struct {
	label string
	of    quantity
	log   bool
}

var (
	accuracyColumn = column{"test accuracy (%)", percent, false}
	noiseColumn    = column{"noise multiplier", noise, false}
	rateColumn     = column{"learning rate", learningRate, true}
	samplingColumn = column{"sampling rate", samplingRate, false}
)

// columns returns the quantities of a figure.
func (f Figure) columns() []column {
	switch {
	case !f.Detailed:
		return []column{accuracyColumn}
	case f.Space == campaign.All:
		return []column{accuracyColumn, noiseColumn, rateColumn, samplingColumn}
	}
	return []column{accuracyColumn, noiseColumn, rateColumn}
}

// draw returns a figure that needs runs. Cells without a result leave gaps. Its CSV file has a row for each run.
func (r *results) draw(f Figure) figure.Figure {
	others := len(campaign.Methods()) - 1 // but single runs
	c := figure.Comparison{Accountings: r.Accountings, Columns: 2, Small: f.Detailed, Apart: others, Numbers: campaign.Table(r.runs(f))}
	for _, m := range campaign.Methods() {
		c.Methods = append(c.Methods, m.String())
	}
	columns := f.columns()
	if f.Detailed {
		c.Columns = len(columns)
	}
	for _, dataset := range r.Datasets {
		for i, column := range columns {
			p := figure.ComparisonPanel{Title: DatasetName(dataset), X: "epsilon", Y: column.label, LogY: column.log}
			if i == 0 {
				p.Note = r.note(f, dataset)
			}
			p.Series = r.series(f, dataset, column)
			c.Panels = append(c.Panels, p)
		}
	}
	return c
}

// series returns the points of all methods and accountings. A single run is drawn at its own epsilon.
func (r *results) series(f Figure, dataset string, c column) []figure.Series {
	var all []figure.Series
	for m, method := range slices.Backward(campaign.Methods()) {
		for a, accounting := range r.Accountings {
			s := figure.Series{Method: m, Accounting: a}
			for _, e := range r.Epsilons {
				cell := campaign.Cell{Dataset: dataset, Optimizer: f.Optimizer, Space: f.Space, Method: method, Accounting: accounting, Epsilon: e}
				values := r.of(cell, c.of)
				at := figure.Mean{X: e, Y: values.mean(), Half: values.half(), Runs: values}
				if planned, ok := r.planned[cell]; ok && len(values) == 0 && c.label == noiseColumn.label {
					at.Y = planned
				}
				if method == campaign.Single && len(values) > 0 {
					at.X = r.of(cell, epsilon).mean()
				}
				s.Points = append(s.Points, at)
			}
			all = append(all, s)
		}
	}
	return all
}

// DatasetName returns a data set's name as the paper writes it.
func DatasetName(dataset string) string {
	names := map[string]string{"mnist": "MNIST", "fashion-mnist": "FashionMNIST", "cifar-10": "CIFAR-10", "imdb": "IMDB"}
	if name, ok := names[dataset]; ok {
		return name
	}
	return dataset
}
