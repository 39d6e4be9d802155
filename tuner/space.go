package tuner

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/internal/random"
	"github.com/dptrain/dptrain/train"
)

// Candidate is one choice of hyperparameters. The learning rate is the trials'; see
// [Settings.FinalLearningRate].
type Candidate struct {
	LearningRate    float64 `json:"learning_rate" yaml:"learning_rate"`
	SamplingRate    float64 `json:"sampling_rate" yaml:"sampling_rate"` // γ
	Steps           int     `json:"steps" yaml:"steps"`                 // T; see [train.Steps] for epochs
	NoiseMultiplier float64 `json:"noise_multiplier" yaml:"noise_multiplier"`
	ClippingNorm    float64 `json:"clipping_norm" yaml:"clipping_norm"` // C, which costs nothing: the noise is in units of it
}

// Space is what trials draw from, independently and with replacement, as plain data: a [Grid] or a [Region].
type Space interface {
	// String says what there is to draw from.
	String() string
	// LearningRates returns the smallest and the largest learning rate of trials.
	LearningRates() (low, high float64)

	// event bounds the cost of one trial, whatever candidate it draws.
	event() accountant.Event
	// drawer returns the draw of a candidate.
	drawer() func(*random.Stream) (Candidate, error)
	// first is the answer when no trial is drawn.
	first() (Candidate, error)
	// validate draws nothing, and afterwards no draw fails.
	validate(Settings) error
	// clone returns a copy that shares no memory.
	clone() Space
	// noisy returns the space whose cost falls as noise grows, from +Inf at 0.
	noisy(noise float64, c calibration) Space
	// below leaves out learning rates above the limit. What is left may be empty.
	below(limit float64) Space
}

// Grid is a list of candidates, each drawn with equal probability. The first is the answer when no trial is drawn.
type Grid []Candidate

// LearningRates returns the grid that differs from base in nothing but the learning rate.
func LearningRates(base Candidate, rates ...float64) Grid {
	grid := make(Grid, len(rates))
	for i, rate := range rates {
		grid[i] = base
		grid[i].LearningRate = rate
	}
	return grid
}

// Lists are the values to try of each hyperparameter.
type Lists struct {
	LearningRates, SamplingRates, Epochs, ClippingNorms []float64
}

// Grid returns the product of the lists, the learning rate varying fastest. Steps are those of [train.Steps], and 0
// without a list of epochs; noise multipliers are 0. Two lists of epochs that come to the same number of steps, and epochs
// that come to none, are a [*train.SettingError].
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

// stepsOf refuses no steps at all.
func stepsOf(epochs, gamma float64) (int, error) {
	steps, err := train.Steps(epochs, gamma)
	if err == nil && steps == 0 {
		err = &train.SettingError{Setting: "epochs", Value: epochs, Want: fmt.Sprintf("more: they are less than one step at sampling rate %v", gamma)}
	}
	return steps, err
}

// WithNoiseMultiplier returns a copy of the grid in which every candidate has the given noise.
func (g Grid) WithNoiseMultiplier(noise float64) Grid {
	out := slices.Clone(g)
	for i := range out {
		out[i].NoiseMultiplier = noise
	}
	return out
}

// Run is what a run's cost follows from.
type Run struct {
	SamplingRate    float64 `json:"sampling_rate"`
	Steps           int     `json:"steps"`
	NoiseMultiplier float64 `json:"noise_multiplier"`
}

func (c Candidate) run() Run { return Run{c.SamplingRate, c.Steps, c.NoiseMultiplier} }

func (r Run) event() accountant.Event {
	return accountant.DPSGD(r.SamplingRate, r.NoiseMultiplier, r.Steps)
}

// Runs lists each cost once: learning rate and clipping norm make no difference.
func (g Grid) Runs() []Run {
	var runs []Run
	for _, c := range g {
		if r := c.run(); !slices.Contains(runs, r) {
			runs = append(runs, r)
		}
	}
	return runs
}

func (g Grid) event() accountant.Event { return maxOver(g.Runs()) }

// maxOver is what one of the runs costs, drawn at random: the pointwise maximum (Lemma param_tuning).
func maxOver(runs []Run) accountant.Event {
	var events []accountant.Event
	for _, r := range runs {
		events = append(events, r.event())
	}
	if len(events) == 1 {
		return events[0]
	}
	return accountant.MaxOver{Events: events}
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
		if err := s.validateCandidate(c); err != nil {
			return fmt.Errorf("candidate %d: %w", i+1, err)
		}
	}
	return nil
}

// LearningRates returns the smallest and the largest of the candidates', 0 of none.
func (g Grid) LearningRates() (low, high float64) {
	if len(g) == 0 {
		return 0, 0
	}
	byRate := func(a, b Candidate) int { return cmp.Compare(a.LearningRate, b.LearningRate) }
	return slices.MinFunc(g, byRate).LearningRate, slices.MaxFunc(g, byRate).LearningRate
}

// String counts the candidates.
func (g Grid) String() string { return fmt.Sprintf("%d candidates", len(g)) }

func (s Settings) validateCandidate(c Candidate) error {
	if err := s.privacy(c, float64(s.Samples)).Validate(); err != nil {
		return err
	}
	return train.ValidateOptimizer(s.optimizer(c.LearningRate))
}
