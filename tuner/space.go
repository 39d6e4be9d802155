package tuner

import (
	"fmt"

	"github.com/dptrain/dptrain/train"
)

// Candidate is one choice of hyperparameters. The learning rate is the trials'; see
// [Settings.FinalLearningRate].
type Candidate struct {
	LearningRate    float64 `json:"learning_rate" yaml:"learning_rate"`
	SamplingRate    float64 `json:"sampling_rate" yaml:"sampling_rate"` // γ
	Steps           int     `json:"steps" yaml:"steps"`                 // T; see [train.Steps] for epochs
	NoiseMultiplier float64 `json:"noise_multiplier" yaml:"noise_multiplier"`
}

// Space is what trials draw from, each candidate with equal probability. Its first candidate is the
// answer when no trial is drawn.
type Space []Candidate

// LearningRates returns the space that differs from base in nothing but the learning rate.
func LearningRates(base Candidate, rates ...float64) Space {
	space := make(Space, len(rates))
	for i, rate := range rates {
		space[i] = base
		space[i].LearningRate = rate
	}
	return space
}

// WithNoiseMultiplier returns a copy of the space in which every candidate has the given noise.
func (s Space) WithNoiseMultiplier(noise float64) Space {
	out := make(Space, len(s))
	for i, c := range s {
		c.NoiseMultiplier = noise
		out[i] = c
	}
	return out
}

func (s Settings) validateSpace() error {
	if len(s.Space) == 0 {
		return &train.SettingError{Setting: "search space", Value: "empty", Want: "at least one candidate"}
	}
	for i, c := range s.Space {
		if err := s.privacy(c, float64(s.Samples)).Validate(); err != nil {
			return fmt.Errorf("candidate %d: %w", i+1, err)
		}
		if err := train.ValidateOptimizer(s.optimizer(c.LearningRate)); err != nil {
			return fmt.Errorf("candidate %d: %w", i+1, err)
		}
	}
	return nil
}
