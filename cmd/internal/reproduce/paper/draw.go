package paper

import (
	"math"
	"slices"
	"strconv"
	"strings"

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

// draw returns a figure that needs runs. Cells without a result leave gaps.
func (r *results) draw(f Figure) (figure.Figure, error) {
	numbers, err := r.numbers(f)
	if err != nil {
		return nil, err
	}
	c := figure.Comparison{Accountings: r.Accountings, Columns: 2, Small: f.Detailed, Apart: true, Numbers: numbers}
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
	return c, nil
}

// series returns the points of all methods and accountings. A single run is drawn at its own epsilon.
func (r *results) series(f Figure, dataset string, c column) []figure.Series {
	var all []figure.Series
	for m, method := range slices.Backward(campaign.Methods()) {
		for a, accounting := range r.Accountings {
			s := figure.Series{Method: m, Accounting: a}
			for _, e := range r.Epsilons {
				cell := f.tuning().cell(dataset, method, accounting, e)
				values := r.of(cell, c.of)
				at := figure.Mean{X: e, XError: math.NaN(), Y: values.mean(), YError: values.standardError()}
				if planned, ok := r.planned[cell]; ok && len(values) == 0 && c.label == noiseColumn.label {
					at.Y = planned
				}
				if method == campaign.Single && len(values) > 0 {
					own := r.of(cell, epsilon)
					at.X, at.XError = own.mean(), own.standardError()
				}
				s.Points = append(s.Points, at)
			}
			all = append(all, s)
		}
	}
	return all
}

// note returns a panel's note: how much longer the baseline trained than the faster variant. Times can't be repeated,
// so results with a seed are compared by their gradients.
func (r *results) note(f Figure, dataset string) string {
	q := seconds
	if r.seeded {
		q = gradients
	}
	var found []string
	known := false
	for _, accounting := range r.Accountings {
		if s, ok := r.speedup(f.tuning(), dataset, accounting, q); ok {
			text := oneDecimal(s.ratio)
			if len(r.Accountings) > 1 && !f.Detailed { // for lack of space; the key names them in this order
				text += " (" + accounting + ")"
			}
			found = append(found, text)
			known = true
		} else if f.Detailed {
			found = append(found, "-") // keeps the order of the key
		}
	}
	text := strings.Join(found, ", ")
	switch {
	case !known:
		return ""
	case f.Detailed && r.seeded:
		return "baseline " + text + " times the gradients"
	case f.Detailed:
		return "baseline " + text + " times as long"
	case r.seeded:
		return "baseline: " + text + " times as many gradients"
	}
	return "baseline trained " + text + " times as long"
}

func oneDecimal(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }

// numbers returns a figure's CSV file: a row for each cell, with the numbers of its runs and the paper's settings.
func (r *results) numbers(f Figure) ([][]string, error) {
	header := []string{
		"dataset", "optimizer", "tuned", "method", "accounting", "epsilon", "delta", "subset_rate", "mean_trials",
		"nominal_sampling_rate", "nominal_epochs", "clipping_norm", "planned_noise_multiplier", "runs",
	}
	for _, q := range quantities {
		header = append(header, q.name+"_mean", q.name+"_standard_error")
	}
	rows := [][]string{header}
	for _, dataset := range r.Datasets {
		w, err := r.workload(dataset, f.tuning())
		if err != nil {
			return nil, err
		}
		p := w.Privacy
		nominal := []string{number(p.SamplingRate), number(p.Epochs)}
		if f.Space == campaign.All {
			nominal = []string{"", ""} // tuned
		}
		for _, m := range campaign.Methods() {
			for _, accounting := range r.Accountings {
				for _, target := range r.Epsilons {
					cell := f.tuning().cell(dataset, m, accounting, target)
					row := []string{dataset, f.Optimizer, string(f.Space), string(m), accounting, number(target), number(p.Delta), number(p.SubsetRate), number(p.MeanRepetitions)}
					row = append(append(row, nominal...), number(p.ClippingNorm), r.plannedNoise(cell), strconv.Itoa(len(r.byCell[cell])))
					for _, q := range quantities {
						values := r.of(cell, q.of)
						row = append(row, number(values.mean()), number(values.standardError()))
					}
					rows = append(rows, row)
				}
			}
		}
	}
	return rows, nil
}

func (r *results) plannedNoise(c campaign.Cell) string {
	if noise, ok := r.planned[c]; ok {
		return number(noise)
	}
	return ""
}

// number prints all digits of a number, and nothing for NaN.
func number(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// DatasetName returns a data set's name as the paper writes it.
func DatasetName(dataset string) string {
	names := map[string]string{"mnist": "MNIST", "fashion-mnist": "FashionMNIST", "cifar-10": "CIFAR-10", "imdb": "IMDB"}
	if name, ok := names[dataset]; ok {
		return name
	}
	return dataset
}
