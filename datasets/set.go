package datasets

import (
	"fmt"
	"slices"
)

// Split is the training or the test part of a data set: N samples and their classes. For texts Tokens and Weights are
// set and Samples is nil; otherwise Samples is set and the two are nil.
type Split struct {
	N           int
	SampleShape []int     // of one sample, without the batch axis: [1 28 28] is one channel of 28 rows, [256] a text
	Samples     []float32 // row-major, N times SampleSize values, normalised

	// Tokens are the tokens of texts, from 0 to Vocabulary-1: row-major, N times SampleSize. Short texts are padded
	// with token 0. Vocabulary is 0 for a set without texts.
	Tokens     []int32
	Vocabulary int
	// Weights are 1/k for each of a text's k real tokens, and 0 for the padding, so that a weighted sum over tokens
	// is their mean.
	Weights []float32

	Labels  []int32 // N class indices from 0 to Classes-1
	Classes int
}

// SampleSize returns the number of values, or of tokens, of one sample.
func (s *Split) SampleSize() int { return product(s.SampleShape) }

func product(shape []int) int {
	size := 1
	for _, d := range shape {
		size *= d
	}
	return size
}

// Set is a data set that is ready for training.
type Set struct {
	Name          string
	Train, Test   Split
	Normalisation Normalisation
	Edition       State // [OK], [Unofficial] or [Unverified]: whether its files are the published ones
}

// Check returns an error that matches [ErrInvalid] for the set's first fault, or nil. Faults are counts that disagree,
// a value that isn't finite, a label out of range, or a test split of another shape or other classes than the training
// split. [Open] calls it.
func (s *Set) Check() error {
	if s == nil {
		return invalidf("no set; Open returns one beside a nil error")
	}
	if err := s.Train.check(); err != nil {
		return fmt.Errorf("%s: training set: %w", s.Name, err)
	}
	if err := s.Test.check(); err != nil {
		return fmt.Errorf("%s: test set: %w", s.Name, err)
	}
	if !slices.Equal(s.Train.SampleShape, s.Test.SampleShape) {
		return invalidf("%s: test samples have the shape %v, training samples %v",
			s.Name, s.Test.SampleShape, s.Train.SampleShape)
	}
	if s.Train.Classes != s.Test.Classes {
		return invalidf("%s: the test set has %d classes, the training set %d",
			s.Name, s.Test.Classes, s.Train.Classes)
	}
	if s.Train.Vocabulary != s.Test.Vocabulary {
		return invalidf("%s: the test set has a vocabulary of %d, the training set of %d",
			s.Name, s.Test.Vocabulary, s.Train.Vocabulary)
	}
	return nil
}

func (s *Split) check() error {
	if s.N <= 0 {
		return invalidf("no samples")
	}
	for _, d := range s.SampleShape {
		if d <= 0 {
			return invalidf("sample shape %v has an axis of length %d", s.SampleShape, d)
		}
	}
	if len(s.Labels) != s.N {
		return invalidf("%d labels for %d samples", len(s.Labels), s.N)
	}
	check := s.checkSamples
	if s.Vocabulary != 0 || s.Tokens != nil {
		check = s.checkTokens
	}
	if err := check(); err != nil {
		return err
	}
	return checkLabels(s.Labels, s.Classes)
}

func (s *Split) checkSamples() error {
	size := s.SampleSize()
	if len(s.Samples) != s.N*size {
		return invalidf("%d values for %d samples of shape %v, want %d",
			len(s.Samples), s.N, s.SampleShape, s.N*size)
	}
	if s.Weights != nil {
		return invalidf("%d weights without tokens", len(s.Weights))
	}
	for i, x := range s.Samples {
		if x-x != 0 { // NaN and both infinities
			return invalidf("sample %d: value %d is %v", i/size, i%size, x)
		}
	}
	return nil
}

func (s *Split) checkTokens() error {
	size := s.SampleSize()
	if s.Samples != nil {
		return invalidf("both %d values and %d tokens", len(s.Samples), len(s.Tokens))
	}
	if len(s.Tokens) != s.N*size || len(s.Weights) != s.N*size {
		return invalidf("%d tokens and %d weights for %d samples of shape %v, want %d",
			len(s.Tokens), len(s.Weights), s.N, s.SampleShape, s.N*size)
	}
	for i := range s.N {
		tokens, weights := s.Tokens[i*size:][:size], s.Weights[i*size:][:size]
		used := 0 // real tokens come first
		for used < size && weights[used] != 0 {
			used++
		}
		if used == 0 {
			return invalidf("sample %d: no token has a weight", i)
		}
		for j, token := range tokens {
			want := float32(0)
			if j < used {
				want = 1 / float32(used)
			}
			switch {
			case token < 0 || int(token) >= s.Vocabulary:
				return invalidf("sample %d: token %d is %d, want 0 to %d", i, j, token, s.Vocabulary-1)
			case j >= used && token != 0:
				return invalidf("sample %d: token %d is %d and fills up, want 0", i, j, token)
			case weights[j] != want:
				return invalidf("sample %d: weight %d is %v, want %v", i, j, weights[j], want)
			}
		}
	}
	return nil
}

func checkLabels[T byte | int32](labels []T, classes int) error {
	if classes < 2 {
		return invalidf("%d classes, want at least 2", classes)
	}
	for i, label := range labels {
		if int(label) < 0 || int(label) >= classes {
			return invalidf("label %d is %d, want 0 to %d", i, label, classes-1)
		}
	}
	return nil
}
