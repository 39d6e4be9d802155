package experiment

import (
	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/train"
	"github.com/dptrain/dptrain/tuner"
)

// CheckCurve returns an error, which says why, if the plan can't release a learning curve.
func (p *Plan) CheckCurve() error {
	switch {
	case p.holdsOut():
		return usagef("a learning curve of held-out rows would cost privacy at each point, since they are private; leave it out")
	case !p.tune && p.Samples.Test == 0:
		return usagef("a learning curve has scores on public rows, and there are none; leave it out")
	case p.tune && methods[p.Experiment.Privacy.Variant] == tuner.Baseline:
		return usagef("the baseline has no final run, and the scores of trials are private; leave it out, or choose variant 1 or 2")
	}
	return nil
}

// maxEpsilons is the maximum number of points of a curve whose epsilons are computed. 20 take 0.3 s.
const maxEpsilons = 200

// curve returns the released curve of points, nil for none.
func (p *Plan) curve(points []train.Point) *release.Curve {
	if len(points) == 0 {
		return nil
	}
	return &release.Curve{Points: points, Epsilons: p.epsilons(points)}
}

// epsilons returns, for each point of a single training, the epsilon of the run if it had ended there. It returns nil
// for a tuning, whose search is spent before the first step, and for very many points.
func (p *Plan) epsilons(points []train.Point) []float64 {
	t, ok := p.work.(training)
	if !ok || len(points) > maxEpsilons {
		return nil
	}
	epsilons := make([]float64, len(points))
	for i, point := range points {
		epsilons[i] = p.privacy.Epsilon
		run := unitRun{t.Privacy, t.rows}
		if run.Steps = point.Step; run.Steps == t.Privacy.Steps {
			continue
		}
		var g accountant.Guarantee
		if run.Steps > 0 {
			var err error
			if g, err = run.Guarantee(p.privacy.Delta, Accounting(p.Experiment.Privacy)); err != nil {
				return nil
			}
		}
		epsilons[i] = min(g.Epsilon, p.privacy.Epsilon) // of fewer steps, which the whole run's bound covers too
	}
	return epsilons
}
