package figure

import (
	"fmt"
	"math"
	"slices"

	"github.com/dptrain/dptrain/accountant"
)

// Tradeoff shows, as a function of the subset rate q, the noise multiplier that meets a budget in plans that try each
// candidate with a given probability. Each method has a panel, and each distribution of the number of trials a curve in
// it.
type Tradeoff struct {
	settings TradeoffSettings
	points   []TradeoffPoint
}

// TradeoffSettings are common to all plans of a [Tradeoff].
type TradeoffSettings struct {
	Candidates int     // of the grid
	Tried      float64 // the minimum probability with which each is tried
	Epsilon    float64 // of the guarantee
	Delta      float64
}

// TradeoffPoint is a plan.
type TradeoffPoint struct {
	Method          string
	SubsetRate      float64 // q; 0 for a method without q: its minimum noise is a horizontal line
	Repetitions     string  // the distribution
	Mean            float64 // of the number of trials
	Tried           float64 // the probability that a given candidate is tried
	NoiseMultiplier float64 // not drawn if it is infinite
}

// NewTradeoff returns a figure that joins the points of each method and distribution in their order. The error wraps
// [accountant.ErrInvalid] if there is nothing to draw, or if there are more distributions than distinguishable curves.
func NewTradeoff(s TradeoffSettings, points []TradeoffPoint) (Tradeoff, error) {
	t := Tradeoff{s, points}
	if n, most := len(t.distributions()), len(markers)*len(strokes); n > most {
		return t, fmt.Errorf("%w figure: %d distributions; no more than %d can be told apart", accountant.ErrInvalid, n, most)
	}
	for _, m := range t.methods() {
		for _, d := range t.distributions() {
			if len(t.curve(m, d).x) > 0 {
				return t, nil
			}
		}
	}
	return t, fmt.Errorf("%w figure: no plan with a subset rate meets the budget, there is nothing to draw", accountant.ErrInvalid)
}

// Table returns a row for each plan. Numbers aren't rounded.
func (t Tradeoff) Table() [][]string {
	s := t.settings
	rows := [][]string{{"candidates", "tried_at_least", "epsilon", "delta", "method", "q", "repetitions", "mu", "tried", "noise_multiplier"}}
	for _, p := range t.points {
		row := numbers(float64(s.Candidates), s.Tried, s.Epsilon, s.Delta)
		row = append(row, p.Method)
		row = append(row, numbers(p.SubsetRate)...)
		row = append(row, p.Repetitions)
		rows = append(rows, append(row, numbers(p.Mean, p.Tried, p.NoiseMultiplier)...))
	}
	return rows
}

// methods returns the methods that have a subset rate.
func (t Tradeoff) methods() []string {
	return t.names(func(p TradeoffPoint) (string, bool) { return p.Method, p.SubsetRate > 0 })
}

func (t Tradeoff) distributions() []string {
	return t.names(func(p TradeoffPoint) (string, bool) { return p.Repetitions, true })
}

func (t Tradeoff) names(of func(TradeoffPoint) (string, bool)) []string {
	var names []string
	for _, p := range t.points {
		if name, counts := of(p); counts && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// curve returns a curve with the marker and colour of its distribution. From the fifth distribution on, dash patterns
// differ too.
func (t Tradeoff) curve(method, distribution string) curve {
	k := slices.Index(t.distributions(), distribution)
	c := curve{stroke: strokes[k/len(markers)], marker: markers[k%len(markers)], every: 1}
	for _, p := range t.points {
		if p.Method == method && p.Repetitions == distribution && !math.IsInf(p.NoiseMultiplier, 1) {
			c.x, c.y = append(c.x, p.SubsetRate), append(c.y, p.NoiseMultiplier)
		}
	}
	return c
}

func (t Tradeoff) drawing() drawing {
	s := t.settings
	d := drawing{}
	most := 0.
	level := map[string]float64{}
	for _, p := range t.points {
		most = math.Max(most, p.SubsetRate)
		if least, seen := level[p.Method]; p.SubsetRate == 0 && !math.IsInf(p.NoiseMultiplier, 1) && (!seen || p.NoiseMultiplier < least) {
			level[p.Method] = p.NoiseMultiplier
		}
	}
	for _, m := range t.methods() {
		p := panel{
			title: fmt.Sprintf("%s: each of %d candidates tried in %v %% of runs", m, s.Candidates, 100*s.Tried),
			x:     axis{label: "subset rate *q*", high: most},
			y:     axis{label: fmt.Sprintf("noise multiplier *σ* for *ε* = %v, *δ* = %s", s.Epsilon, scientific(s.Delta))},
		}
		for _, name := range t.names(func(p TradeoffPoint) (string, bool) { return p.Method, p.SubsetRate == 0 }) {
			if noise, ok := level[name]; ok {
				p.curves = append(p.curves, curve{x: []float64{0, most}, y: []float64{noise, noise}, stroke: strokes[2], marker: levelLine})
			}
		}
		for _, name := range slices.Backward(t.distributions()) {
			if c := t.curve(m, name); len(c.x) > 0 {
				p.curves = append(p.curves, c)
			}
		}
		d.panels = append(d.panels, p)
	}
	var trials []keyEntry
	for k, name := range t.distributions() {
		at := slices.IndexFunc(t.points, func(p TradeoffPoint) bool { return p.Repetitions == name })
		trials = append(trials, keyEntry{fmt.Sprintf("%s, *μ* = %v", name, t.points[at].Mean), strokes[k/len(markers)], markers[k%len(markers)]})
	}
	d.key = append(d.key, trials)
	if len(level) > 0 {
		d.key = append(d.key, []keyEntry{{"baseline, at its best", strokes[2], levelLine}})
	}
	return d
}

// levelLine is the look of a line that depends on no subset rate.
var levelLine = marker{Color: markers[2].Color}
