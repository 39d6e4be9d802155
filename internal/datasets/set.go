package datasets

// Split is the training or the test part of a data set: see the library's package.
type Split struct {
	N           int
	SampleShape []int
	Samples     []float32 // [N, SampleSize]; nil for texts
	Tokens      []int32   // [N, SampleSize]; nil for other sets, and so are the weights
	Vocabulary  int       // 0 for a set without texts
	Weights     []float32
	Labels      []int32 // N class indices from 0 to Classes-1
	Classes     int
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
