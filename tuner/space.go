package tuner

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/internal/random"
	"github.com/dptrain/dptrain/train"
)

// Candidate is one choice of hyperparameters. Its learning rate is for trials; the final run scales it by
// [Settings.FinalLearningRate].
type Candidate struct {
	LearningRate    float64 `json:"learning_rate" yaml:"learning_rate"`
	SamplingRate    float64 `json:"sampling_rate" yaml:"sampling_rate"` // γ
	Steps           int     `json:"steps" yaml:"steps"`                 // T; see [train.Steps] for epochs
	NoiseMultiplier float64 `json:"noise_multiplier" yaml:"noise_multiplier"`
	ClippingNorm    float64 `json:"clipping_norm" yaml:"clipping_norm"` // C; doesn't change the cost
}

// Space is the set of candidates that trials draw from, independently and with replacement: a [Grid] or a [Region].
type Space interface {
	// LearningRates returns the minimum and the maximum of the trials' learning rates.
	LearningRates() (low, high float64)

	// trial returns the event of a trial, whose candidate is drawn at random.
	trial() accountant.Event
	// final returns an event that costs no less than a run of any candidate, for a candidate chosen by looking at the
	// data.
	final() accountant.Event
	// drawer returns a function that draws a candidate.
	drawer() func(*random.Stream) (Candidate, error)
	// first returns the winner if no trial is drawn.
	first() (Candidate, error)
	// validate checks the space without a draw. After it returned nil, no draw fails.
	validate(Settings) error
	// clone returns a copy that shares no memory.
	clone() Space
	// noisy returns a member of a family of spaces whose cost falls as noise grows, from +Inf at 0.
	noisy(noise float64, c calibration) Space
	// below returns the space without learning rates above the limit. It may be empty.
	below(limit float64) Space
}

// Grid is a list of candidates, which are drawn with equal probability. If no trial is drawn, the first candidate is
// the winner.
type Grid []Candidate

// LearningRates returns a grid of copies of base with the given learning rates.
func LearningRates(base Candidate, rates ...float64) Grid {
	grid := make(Grid, len(rates))
	for i, rate := range rates {
		grid[i] = base
		grid[i].LearningRate = rate
	}
	return grid
}

// Lists are lists of values for each hyperparameter.
type Lists struct {
	LearningRates, SamplingRates, Epochs, ClippingNorms []float64
}

// Grid returns the product of the lists, the learning rate varying fastest. [train.Steps] turns epochs into steps;
// without a list of epochs, steps are 0. Noise multipliers are 0. The error is a [*train.SettingError] if two values of
// Epochs give the same number of steps, or if one gives 0 steps.
func (l Lists) Grid() (Grid, error) {
	var grid Grid
	for _, gamma := range l.SamplingRates {
		steps, err := l.steps(gamma)
		if err != nil {
			return nil, err
		}
		for _, t := range steps {
			for _, norm := range l.ClippingNorms {
				base := Candidate{SamplingRate: gamma, Steps: t, ClippingNorm: norm}
				grid = append(grid, LearningRates(base, l.LearningRates...)...)
			}
		}
	}
	return grid, nil
}

func (l Lists) steps(gamma float64) ([]int, error) {
	if len(l.Epochs) == 0 {
		return []int{0}, nil
	}
	var steps []int
	for _, epochs := range l.Epochs {
		t, err := stepsOf(epochs, gamma)
		if err != nil {
			return nil, err
		}
		if slices.Contains(steps, t) {
			return nil, &train.SettingError{Setting: "epochs", Value: epochs, Want: fmt.Sprintf("another number of steps than %d at sampling rate %v, which others have", t, gamma)}
		}
		steps = append(steps, t)
	}
	return steps, nil
}

// stepsOf is [train.Steps], with an error for epochs that are less than a step.
func stepsOf(epochs, gamma float64) (int, error) {
	steps, err := train.Steps(epochs, gamma)
	if err == nil && steps == 0 {
		err = &train.SettingError{Setting: "epochs", Value: epochs, Want: fmt.Sprintf("more: they are less than one step at sampling rate %v", gamma)}
	}
	return steps, err
}

// WithNoiseMultiplier returns a copy of the grid in which all candidates have the given noise multiplier.
func (g Grid) WithNoiseMultiplier(noise float64) Grid {
	out := slices.Clone(g)
	for i := range out {
		out[i].NoiseMultiplier = noise
	}
	return out
}

// Run holds the hyperparameters that decide the cost of a run.
type Run struct {
	SamplingRate    float64 `json:"sampling_rate"`
	Steps           int     `json:"steps"`
	NoiseMultiplier float64 `json:"noise_multiplier"`
}

func (c Candidate) run() Run { return Run{c.SamplingRate, c.Steps, c.NoiseMultiplier} }

func (r Run) event() accountant.Event {
	return accountant.DPSGD(r.SamplingRate, r.NoiseMultiplier, r.Steps)
}

// Runs returns the different runs of the candidates. Candidates that differ only in learning rate or clipping norm have
// the same run.
func (g Grid) Runs() []Run {
	var runs []Run
	for _, c := range g {
		if r := c.run(); !slices.Contains(runs, r) {
			runs = append(runs, r)
		}
	}
	return runs
}

// Chances returns the probability with which a trial draws each of Runs.
func (g Grid) Chances() []float64 { return chances(g.counts()) }

// chances divides counts by their sum.
func chances(counts []float64) []float64 {
	sum := floats.Sum(counts)
	for i := range counts {
		counts[i] /= sum
	}
	return counts
}

// counts returns, for each of Runs, the number of candidates that have it.
func (g Grid) counts() []float64 {
	runs := g.Runs()
	counts := make([]float64, len(runs))
	for _, c := range g {
		if i := slices.Index(runs, c.run()); i >= 0 { // not NaN, which accountants refuse
			counts[i]++
		}
	}
	return counts
}

func (g Grid) trial() accountant.Event { return oneOf(g.Runs(), g.counts()) }

func (g Grid) final() accountant.Event { return maxOver(g.Runs()) }

// oneOf returns the event of a run drawn at random, with probabilities in proportion to weights.
func oneOf(runs []Run, weights []float64) accountant.Event {
	if len(runs) == 1 {
		return runs[0].event()
	}
	return accountant.OneOf{Events: eventsOf(runs), Weights: weights}
}

// maxOver returns the event of any of several runs: the pointwise maximum over all (Lemma param_tuning).
func maxOver(runs []Run) accountant.Event {
	if len(runs) == 1 {
		return runs[0].event()
	}
	return accountant.MaxOver{Events: eventsOf(runs)}
}

func eventsOf(runs []Run) (events []accountant.Event) {
	for _, r := range runs {
		events = append(events, r.event())
	}
	return events
}

func (g Grid) drawer() func(*random.Stream) (Candidate, error) {
	return func(s *random.Stream) (Candidate, error) { return g[s.IntN(len(g))], nil }
}

func (g Grid) first() (Candidate, error) { return g[0], nil }

func (g Grid) clone() Space { return slices.Clone(g) }

func (g Grid) below(limit float64) Space {
	return slices.DeleteFunc(slices.Clone(g), func(c Candidate) bool { return c.LearningRate > limit })
}

func (g Grid) validate(s Settings) error {
	if len(g) == 0 {
		return &train.SettingError{Setting: "search space", Value: "empty", Want: "at least one candidate"}
	}
	for i, c := range g {
		if err := s.validateCandidate(c, g[0].ClippingNorm); err != nil {
			return fmt.Errorf("candidate %d: %w", i+1, err)
		}
	}
	return nil
}

// LearningRates returns the minimum and the maximum of the candidates' learning rates; 0 for an empty grid.
func (g Grid) LearningRates() (low, high float64) {
	if len(g) == 0 {
		return 0, 0
	}
	byRate := func(a, b Candidate) int { return cmp.Compare(a.LearningRate, b.LearningRate) }
	return slices.MinFunc(g, byRate).LearningRate, slices.MaxFunc(g, byRate).LearningRate
}

// validateCandidate checks a candidate, whose clipping norm must be the first one's if clipping is automatic.
func (s Settings) validateCandidate(c Candidate, first float64) error {
	if s.Clipping == train.AutomaticClipping && c.ClippingNorm != first {
		return &train.SettingError{Setting: "clipping norm", Value: c.ClippingNorm, Want: fmt.Sprintf("%v as before: automatic clipping needs no search for it, so search the rate", first)}
	}
	if err := s.privacy(c, float64(s.Samples)).Validate(); err != nil {
		return err
	}
	return s.optimizer(c.LearningRate).Validate()
}
