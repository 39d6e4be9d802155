package datasets

import (
	"fmt"
	"slices"
)

// Split is one part of a data set: N samples and the class of each.
type Split struct {
	N           int
	SampleShape []int     // of one sample, without the batch axis: [1 28 28] is one channel of 28 rows
	Samples     []float32 // row-major, N times SampleSize values, normalised
	Labels      []int32   // N class numbers from 0 to Classes-1
	Classes     int
}

// SampleSize returns the number of values of one sample.
func (s *Split) SampleSize() int {
	size := 1
	for _, d := range s.SampleShape {
		size *= d
	}
	return size
}

// Set is a data set that is ready for training.
type Set struct {
	Name          string
	Train, Test   Split
	Normalisation Normalisation
}

// Normalisation says how raw bytes became samples; see the package comment. It has one Mean and one
// Std for each channel. A set that was never made of bytes leaves it zero.
type Normalisation struct {
	Mean, Std []float64
}

// table returns the sample value of each raw byte of a channel. There is no product followed by a
// sum in it that a platform could fuse, so every platform has the same values.
func (n Normalisation) table(channel int) *[256]float32 {
	var t [256]float32
	for raw := range t {
		t[raw] = float32((float64(raw)/255 - n.Mean[channel]) / n.Std[channel])
	}
	return &t
}

// rawSplit is a split of grey images before normalisation.
type rawSplit struct {
	n, rows, cols int
	pixels        []byte
	labels        []byte
}

// split normalises the images and labels.
func (r *rawSplit) split(classes int, norm Normalisation) Split {
	s := Split{
		N:           r.n,
		SampleShape: []int{1, r.rows, r.cols},
		Samples:     make([]float32, len(r.pixels)),
		Labels:      make([]int32, len(r.labels)),
		Classes:     classes,
	}
	table := norm.table(0)
	for i, p := range r.pixels {
		s.Samples[i] = table[p]
	}
	for i, l := range r.labels {
		s.Labels[i] = int32(l)
	}
	return s
}

// Check returns an error that matches [ErrInvalid] and names the first fault of the set: counts that
// don't fit each other, a value that is not finite, a label out of range, or a test split whose
// shape or classes are not the training split's. Sets from [Open] and [LoadIDX] have passed it.
func (s *Set) Check() error {
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
	size := s.SampleSize()
	if len(s.Samples) != s.N*size {
		return invalidf("%d values for %d samples of shape %v, want %d",
			len(s.Samples), s.N, s.SampleShape, s.N*size)
	}
	if len(s.Labels) != s.N {
		return invalidf("%d labels for %d samples", len(s.Labels), s.N)
	}
	for i, x := range s.Samples {
		if x-x != 0 { // NaN and both infinities
			return invalidf("sample %d: value %d is %v", i/size, i%size, x)
		}
	}
	return checkLabels(s.Labels, s.Classes)
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
