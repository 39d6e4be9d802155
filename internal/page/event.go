package page

import (
	"fmt"
	"math"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/internal/report"
	"github.com/dptrain/dptrain/tuner"
)

// eventTolerance is the maximum relative difference between the stated epsilon and that of the event.
const eventTolerance = 1e-6

// event returns what the run did with the data, if its epsilon is the stated one. Other curves would be those of
// another run.
func (r Run) event() (accountant.Event, error) {
	event, err := r.statedEvent()
	if err != nil {
		return nil, err
	}
	p := r.Privacy
	g, err := accountant.Epsilon(event, p.Delta, accountant.Options{Mode: accountant.Mode(p.Accounting)})
	if err != nil {
		return nil, err
	}
	if !(math.Abs(g.Epsilon-p.Epsilon) <= eventTolerance*p.Epsilon) {
		return nil, fmt.Errorf("this dptrain finds epsilon %v for the described run, and the statement has %v", g.Epsilon, p.Epsilon)
	}
	return event, nil
}

func (r Run) statedEvent() (accountant.Event, error) {
	if m := r.Manifest; m != nil && len(m.Event) > 0 {
		return accountant.UnmarshalEvent(m.Event)
	}
	event, err := eventOf(r.Privacy)
	if err == nil && r.Privacy.RowsPerUnit > 1 {
		event = accountant.GroupOf{Event: event, Size: r.Privacy.RowsPerUnit}
	}
	return event, err
}

// eventOf rebuilds an event from a statement.
func eventOf(p report.Privacy) (accountant.Event, error) {
	t := p.Tuning
	if t == nil {
		return accountant.DPSGD(p.SamplingRate, p.NoiseMultiplier, p.Steps), nil
	}
	trial, final, err := baseOf(t.Space)
	if err != nil {
		return nil, err
	}
	trials, err := repetitionsOf(t)
	if err != nil {
		return nil, err
	}
	var runs accountant.Event
	switch t.Method {
	case "variant 1":
		runs = accountant.Variant1Of(t.SubsetRate, trials, trial, final)
	case "variant 2":
		runs = accountant.Variant2Of(t.SubsetRate, trials, trial, final)
	case "baseline":
		runs = accountant.Baseline(trials, trial)
	default:
		return nil, fmt.Errorf("unknown method %q", t.Method)
	}
	if h := t.HeldOut; h != nil {
		return accountant.Parallel{Events: []accountant.Event{runs, accountant.HeldOutScores(trials, h.NoiseMultiplier)}}, nil
	}
	return runs, nil
}

// maxRuns is the maximum number of different runs of a grid whose event is rebuilt.
const maxRuns = 1000

// baseOf returns the events of a trial, with hyperparameters that are drawn from the space, and of a final run with any
// of them.
func baseOf(s report.Space) (trial, final accountant.Event, err error) {
	if s.Line != nil {
		line := accountant.RDPLine{Slope: s.Line.Slope, Orders: accountant.Orders{Low: 2, High: s.Line.Order}}
		return line, line, nil
	}
	if n := len(s.Runs); n == 0 || n > maxRuns {
		return nil, nil, fmt.Errorf("%d different runs in the search space; want 1 to %d", n, maxRuns)
	}
	var events []accountant.Event
	for _, run := range s.Runs {
		events = append(events, dpsgd(run))
	}
	if len(events) == 1 {
		return events[0], events[0], nil
	}
	final = accountant.MaxOver{Events: events}
	if s.RunProbabilities == nil {
		return final, final, nil
	}
	return accountant.OneOf{Events: events, Weights: s.RunProbabilities}, final, nil
}

func dpsgd(r tuner.Run) accountant.Event {
	return accountant.DPSGD(r.SamplingRate, r.NoiseMultiplier, r.Steps)
}

func repetitionsOf(t *report.Tuning) (accountant.Repetitions, error) {
	mean := t.MeanRepetitions
	switch t.Repetitions {
	case "poisson":
		return accountant.Poisson{Mean: mean}, nil
	case "truncated-poisson":
		return accountant.TruncatedPoissonWithMean(mean)
	case "geometric":
		return accountant.Geometric(mean)
	case "logarithmic":
		return accountant.Logarithmic(mean)
	case "binomial":
		return accountant.BinomialWithMean(t.MaxRepetitions, mean)
	case "fixed":
		return accountant.Fixed{Trials: int(mean)}, nil
	case "negative-binomial":
		if t.Shape != nil {
			return accountant.NegativeBinomial(*t.Shape, mean)
		}
	}
	return nil, fmt.Errorf("unknown distribution of trials %q", t.Repetitions)
}
