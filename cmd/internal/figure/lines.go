package figure

import (
	"fmt"
	"math"

	"github.com/dptrain/dptrain/accountant"
)

// LinesSettings are the runs that [Lines] draws.
type LinesSettings struct {
	SamplingRates []float64 // gamma; one panel for each
	Candidates    []Candidate
	Order         int // the largest RDP order; lines are above their curves up to it
}

// Candidate is a training run without its sampling rate.
type Candidate struct {
	NoiseMultiplier float64 // sigma
	Steps           int     // T
}

// PaperLines returns the sampling rates and the order of Figure mnist_novel_x. The paper doesn't name the candidates
// that it draws; the first one here is the run of Figure compare_dp_bounds.
func PaperLines() LinesSettings {
	return LinesSettings{
		SamplingRates: []float64{0.01, 0.02},
		Candidates:    []Candidate{{2, 5000}, {3, 7500}, {4, 10000}},
		Order:         24,
	}
}

// Lines shows RDP curves of DP-SGD and, above each, the smallest line through the origin.
type Lines struct {
	settings LinesSettings
	curves   [][]accountant.Curve // by sampling rate and candidate
	slopes   [][]float64          // c, likewise
}

// ComputeLines computes curves and slopes. The error wraps [accountant.ErrInvalid] if a setting makes no sense or a
// curve isn't finite.
func ComputeLines(s LinesSettings) (Lines, error) {
	if len(s.SamplingRates) == 0 || len(s.Candidates) == 0 {
		return Lines{}, fmt.Errorf("%w figure: wants at least one sampling rate and one candidate", accountant.ErrInvalid)
	}
	if len(s.Candidates) > len(markers) {
		return Lines{}, fmt.Errorf("%w figure: %d candidates; no more than %d can be told apart", accountant.ErrInvalid, len(s.Candidates), len(markers))
	}
	if s.Order < 2 {
		return Lines{}, fmt.Errorf("%w order %d: the smallest is 2", accountant.ErrInvalid, s.Order)
	}
	orders := accountant.Orders{Low: 2, High: s.Order}
	l := Lines{settings: s}
	for _, rate := range s.SamplingRates {
		var curves []accountant.Curve
		var slopes []float64
		for _, c := range s.Candidates {
			curve, err := accountant.RDP(accountant.DPSGD(rate, c.NoiseMultiplier, c.Steps), accountant.Options{Mode: accountant.Paper, Orders: orders})
			if err != nil {
				return Lines{}, fmt.Errorf("bound a run at sampling rate %v: %w", rate, err)
			}
			slope := curve.Slope(orders)
			if math.IsInf(slope, 1) {
				return Lines{}, fmt.Errorf("%w figure: no finite RDP at sampling rate %v with noise multiplier %v", accountant.ErrInvalid, rate, c.NoiseMultiplier)
			}
			curves, slopes = append(curves, curve), append(slopes, slope)
		}
		l.curves, l.slopes = append(l.curves, curves), append(l.slopes, slopes)
	}
	return l, nil
}

// Table returns a row for each sampling rate, candidate and order, with the slope c of the candidate's line c·order.
func (l Lines) Table() [][]string {
	rows := [][]string{{"sampling_rate", "noise_multiplier", "steps", "slope", "rdp_order", "rdp"}}
	for i, rate := range l.settings.SamplingRates {
		for k, c := range l.settings.Candidates {
			for order := 2; order <= l.settings.Order; order++ {
				rows = append(rows, numbers(rate, c.NoiseMultiplier, float64(c.Steps), l.slopes[i][k], float64(order), l.curves[i][k][order]))
			}
		}
	}
	return rows
}

// drawing gives each candidate its marker and colour; a line has the colour of its candidate.
func (l Lines) drawing() drawing {
	s := l.settings
	orders := make([]float64, 0, s.Order-1)
	for order := 2; order <= s.Order; order++ {
		orders = append(orders, float64(order))
	}
	last := float64(s.Order)
	d := drawing{}
	for i, rate := range s.SamplingRates {
		p := panel{
			title: fmt.Sprintf("sampling rate %v", rate),
			x:     axis{label: "RDP order", high: last},
			y:     axis{label: "RDP value"},
		}
		for k := range s.Candidates {
			slope := l.slopes[i][k]
			mark := markers[k]
			line := marker{Color: mark.Color}
			p.curves = append(p.curves,
				curve{x: []float64{0, last}, y: []float64{0, slope * last}, stroke: strokes[1], marker: line,
					label: "c = " + up(slope)},
				curve{x: orders, y: l.curves[i][k][2:], stroke: strokes[0], marker: mark, every: max(1, s.Order/12)})
		}
		d.panels = append(d.panels, p)
	}
	var runs []keyEntry
	for k, c := range s.Candidates {
		runs = append(runs, keyEntry{fmt.Sprintf("noise %v, %d steps", c.NoiseMultiplier, c.Steps), strokes[0], markers[k]})
	}
	d.key = [][]keyEntry{runs, {{fmt.Sprintf("smallest line c * order above, up to order %d", s.Order), strokes[1], marker{}}}}
	return d
}
