package experiment

import (
	"errors"
	"fmt"
	"math"
	"reflect"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/datasets/table"
	"github.com/dptrain/dptrain/internal/float"
)

// The rule for linear models on tables, which gives hyperparameters from public numbers where a search would cost more
// than it finds. It was fitted on twelve tables and is shown on twelve others, in bench/results/rule.md.
//
// All rows are in every batch, up to ruleBatch, since small batches add chance of their own to the same noise. DP-Adam
// divides by the root of a mean of squares, which noise dominates where there is much of it: then steps shrink with the
// signal's share, as they should. The average of about the last hundred parameters keeps what they have in common.
const (
	ruleSteps   = 300
	ruleAverage = 0.99

	ruleRate, ruleRateNumbers = 0.026, 0.006 // at a signal of usualSignal and values of variance 1
	ruleClip, ruleClipNumbers = 0.04, 0.1    // of a usual row's norm, at a signal of 1
	usualSignal               = 30

	leastSignal = 3 // below it, on tables cut to few rows, models were often below a constant
	ruleBatch   = 50_000
)

// signalOf returns the ratio of a gradient of norm 1, summed over n rows, to the noise that a run with an epsilon adds
// to such sums in all, over p parameters: μn/√p, where a Gaussian mechanism of noise 1/μ has the epsilon. By Bun and
// Steinke ("Concentrated Differential Privacy", 2016) it has it if μ = √(2L+2ε) − √(2L) with L = log 1/δ. Counted
// exactly, μ is about 1.3 times that. It decides no guarantee. A unit with m rows takes m times the noise.
func signalOf(p settings.Privacy, n, parameters, rowsPerUnit int) float64 {
	log := -math.Log(p.Delta)
	mu := 1.3 * (math.Sqrt(2*log+2**p.Epsilon) - math.Sqrt(2*log))
	return mu * float64(n) / float64(max(1, rowsPerUnit)) / math.Sqrt(float64(parameters))
}

// spread describes scaled rows as public ones are: the sum of the variances of a row's values, their number, and the
// root of the mean square of its label.
type spread struct {
	variance float64
	values   int
	label    float64
}

// spreadOf takes public rows as they are. Without any it takes a number's range for five standard deviations, or 1 for
// one, and a category's for as rare as the others.
func spreadOf(s *table.Schema, public *table.Samples) spread {
	out := spread{label: 1, values: int(volume(s.Shape))}
	numbers := s.Label.Task == table.Regression
	if public == nil || public.N == 0 {
		deviation := func(clip *table.Range, scale *table.Scale) float64 {
			switch {
			case clip == nil:
				return 1
			case scale == nil:
				return (clip.High - clip.Low) / 5
			}
			return (clip.High - clip.Low) / 5 / math.Abs(scale.Divisor)
		}
		for _, c := range s.Columns {
			if k := float64(len(c.Categories)); k > 0 {
				out.variance += 1 - 1/k
				continue
			}
			out.variance += volume(c.Shape) * math.Pow(deviation(c.Clip, c.Scale), 2)
		}
		if numbers {
			out.label = deviation(s.Label.Clip, s.Label.Scale)
		}
		return out
	}
	n := float64(public.N)
	for j := range out.values {
		sum, squares := 0.0, 0.0
		for i := j; i < len(public.Values); i += out.values {
			x := float64(public.Values[i])
			sum, squares = sum+x, squares+x*x
		}
		out.variance += max(0, squares/n-sum/n*sum/n)
	}
	if numbers {
		squares := 0.0
		for _, y := range public.Numbers {
			squares += float64(y) * float64(y)
		}
		out.label = math.Sqrt(squares / n)
	}
	return out
}

// byRule returns an experiment with the hyperparameters of the rule.
func byRule(e settings.Experiment, s spread, numbers bool, n int, signal float64) settings.Experiment {
	rate, clip := ruleRate, ruleClip
	if numbers {
		rate, clip = ruleRateNumbers, ruleClipNumbers
	}
	if !(s.label > 0) {
		s.label = 1
	}
	deviation := math.Sqrt(s.variance / float64(s.values))
	if !(deviation > 0) {
		deviation = 1
	}
	e.Tuning.Tune = []string{settings.TuneRule}
	e.Privacy.SamplingRate = float.Rounded(min(1, ruleBatch/float64(n)), 2)
	e.Privacy.Epochs = ruleSteps * e.Privacy.SamplingRate
	e.Privacy.ClippingNorm = float.Rounded(clip*s.label*math.Sqrt((1+s.variance)*signal), 2)
	e.Training = settings.Training{
		Optimizer: settings.OptimizerAdam, Average: ruleAverage,
		LearningRate: float.Rounded(rate*s.label*math.Pow(signal/usualSignal, 0.25)/math.Pow(deviation, 0.75), 2),
	}
	return e
}

const (
	otherRuns = "settings ask for other runs than its own, or for a search"
	fixedOnly = "it is for fixed clipping, and this is --clipping automatic"
)

// unruled says why the rule doesn't apply to an experiment, or nothing if it does.
func unruled(e settings.Experiment) string {
	switch {
	case e.Dataset != settings.Files:
		return "it is for files of your own"
	case e.Model != "linear":
		return fmt.Sprintf("it is for linear models, and this is %s", e.Model)
	case e.Privacy.Epsilon == nil:
		return "it goes by --epsilon, which isn't given"
	case e.Privacy.Clipping == settings.ClippingAutomatic:
		return fixedOnly
	case !e.ByDefault():
		return otherRuns
	}
	return ""
}

// needsScores reports whether an experiment that tunes has to score trials. Where neither public rows nor held-out ones
// could, the rule is all there is.
func needsScores(e settings.Experiment) bool {
	ruled := e.TunesBy(settings.TuneAuto) || e.TunesBy(settings.TuneRule)
	return !ruled || unruled(e) != ""
}

// choice says by what hyperparameters are chosen.
type choice struct {
	ruled  bool                // by the rule; signal and search are its own
	signal float64             // see signalOf
	search settings.Experiment // the search that wasn't taken; of no data set if there was none to take
	cost   string              // of that search, as part of a sentence
	why    string              // the rule doesn't apply
}

// choose sets the experiment that is planned, and whether it tunes. The rule is taken wherever it applies, unless a
// search is forced, which was behind on tables of all sizes (bench/results/rule.md). All of this is public: settings,
// the number of rows, and public rows.
func (p *Plan) choose(e settings.Experiment, tune bool, public *table.Samples) error {
	p.Experiment, p.tune = e, tune
	rule, why := e.TunesBy(settings.TuneRule), unruled(e)
	again := rule && !tune && why == otherRuns // the settings of a run by the rule, which goes on
	switch {
	case !rule && !e.TunesBy(settings.TuneAuto):
		return nil
	case why != "" && rule && tune:
		return usagef("tuning.tune: the rule doesn't apply: %s; leave that out, or choose --tune rate, or \"dptrain train\" for one run with given hyperparameters", why)
	case why != "" && !again:
		p.choice.why = why
		return nil
	}
	of := spreadOf(p.Samples.Schema, public)
	signal := signalOf(e.Privacy, p.Samples.Train, (of.values+1)*p.Samples.Schema.Outputs(), e.Data.RowsPerUnit)
	ruled := byRule(e, of, p.Samples.Schema.Label.Task == table.Regression, p.Samples.Train, signal)
	if again && !reflect.DeepEqual(ruled, e) {
		return nil
	}
	p.choice, p.Experiment, p.tune = choice{ruled: true, signal: signal}, ruled, false
	if tune && public != nil {
		p.choice.search = e
	}
	return nil
}

// compare computes what the search that wasn't taken would have cost.
func (c *choice) compare(n int) error {
	e := c.search
	if e.Dataset == "" {
		return nil
	}
	e.Tuning.Tune = []string{settings.TuneRate}
	_, single, err := planTraining(e, n)
	if err != nil {
		return err
	}
	_, searched, err := planTuning(e, n)
	if errors.Is(err, accountant.ErrInfeasible) {
		c.cost = "; no search meets the budget"
		return nil
	}
	subset := 100 * e.Privacy.SubsetRate
	c.cost = fmt.Sprintf("; a search, --tune rate, would choose by trials on %.0f %% of the rows and train on the others, with %.3g times the noise of one run",
		subset, searched.NoiseMultiplier/single.NoiseMultiplier)
	return err
}

// facts returns the line of a plan.
func (c choice) facts(tune bool) (facts release.Facts) {
	switch {
	case c.ruled:
		facts.Add("by rule", "hyperparameters from public numbers alone"+c.cost)
	case tune && c.why != "":
		facts.Add("search", "the rule for hyperparameters doesn't apply: "+c.why)
	case c.why == fixedOnly:
		facts.Add("by rule", "nothing: "+c.why)
	}
	return facts
}

// warning warns of a run that learns hardly anything.
func (c choice) warning() string {
	if !c.ruled || c.signal >= leastSignal {
		return ""
	}
	return fmt.Sprintf("what the rows have to say is %.2g times the noise, and below %d a model is often no better than one answer for all: it takes more rows, fewer columns, or a larger epsilon", c.signal, leastSignal)
}
