package experiment

import (
	"fmt"
	"math/rand/v2"

	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/internal/given"
	"github.com/dptrain/dptrain/train"
)

// Rehearsal returns the model of an experiment on a named data set, and n random samples of the data set's shape, to
// measure how long steps take without reading any data.
func Rehearsal(e settings.Experiment, n int) (train.Model, *train.Data, error) {
	m, _, err := modelOfSet(e)
	if err != nil {
		return train.Model{}, nil, err
	}
	model, err := modelOf(describeModel(e, m))
	if err != nil {
		return model, nil, err
	}
	r := rand.New(rand.NewPCG(1, 2))
	size := int(volume(m.Shape))
	values := make([]float32, n*size)
	for i := range values {
		values[i] = r.Float32() - 0.5
	}
	columns := given.Away(train.Column{Floats: values})
	if m.Vocabulary > 0 {
		columns = given.Away(train.Column{Ints: tokens(r, n, size, m.Vocabulary)}, train.Column{Floats: values})
		for i := range values {
			values[i] = 1 / float32(size)
		}
	}
	labels := make([]int32, n)
	for i := range labels {
		labels[i] = r.Int32N(int32(m.Outputs))
	}
	data, err := train.ClassificationOf(columns, labels, m.Outputs)
	if err != nil {
		return model, nil, fmt.Errorf("rehearse %s: %w", e.Dataset, err)
	}
	return model, data.Data, nil
}

// tokens returns the tokens of n texts. As in a language, a few tokens make most of a text.
func tokens(r *rand.Rand, n, size, vocabulary int) []int32 {
	z := rand.NewZipf(r, 1.1, 2.7, uint64(vocabulary-1))
	out := make([]int32, n*size)
	for i := range out {
		out[i] = int32(z.Uint64())
	}
	return out
}
