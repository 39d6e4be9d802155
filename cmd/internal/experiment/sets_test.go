package experiment

import (
	"runtime"
	"testing"

	"github.com/dptrain/dptrain/datasets/table"
	"github.com/dptrain/dptrain/internal/datasets"
)

// A large data set isn't copied while it is loaded.
func TestSamplesAreNotCopied(t *testing.T) {
	const n, size = 4, 1 << 20
	values, labels := make([]float32, n*size), []int32{0, 1, 1, 0}
	rows := &table.Samples{N: n, Values: values, Classes: labels, Numbers: []float32{1, 2, 3, 4}}
	for name, load := range map[string]func() error{
		"images": func() error {
			_, err := classified(&datasets.Split{N: n, SampleShape: []int{size}, Samples: values, Labels: labels, Classes: 2})
			return err
		},
		"texts": func() error {
			_, err := classified(&datasets.Split{N: n, SampleShape: []int{size}, Tokens: make([]int32, n), Weights: values, Labels: labels, Classes: 2})
			return err
		},
		"rows with classes": func() error {
			_, err := labelled(&table.Schema{Label: table.Label{Task: table.Classification, Classes: []string{"a", "b"}}}, rows, nil)
			return err
		},
		"rows with numbers": func() error {
			_, err := labelled(&table.Schema{Label: table.Label{Task: table.Regression}}, rows, nil)
			return err
		},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := load()
		runtime.ReadMemStats(&after)
		if bytes := after.TotalAlloc - before.TotalAlloc; err != nil || bytes > n*size {
			t.Errorf("%s: %v, %d bytes for %d", name, err, bytes, 4*n*size)
		}
	}
}
