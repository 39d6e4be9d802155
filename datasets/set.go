package datasets

import "github.com/dptrain/dptrain/train"

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

// Classification returns copies of the set's two parts for package train, with one-hot labels as the graphs of package
// models take them.
func (s *Set) Classification() (training, test *train.Classification, err error) {
	if training, err = s.Train.classification(); err != nil {
		return nil, nil, err
	}
	test, err = s.Test.classification()
	return training, test, err
}

func (s *Split) classification() (*train.Classification, error) {
	if s.Tokens != nil {
		return train.NewTokenClassification(s.Tokens, s.Labels, s.Classes, s.Weights)
	}
	return train.NewClassification(s.Samples, s.Labels, s.Classes)
}
