package cpu

import (
	"errors"
	"testing"
)

// A failed worker does nothing more: later work must not overwrite its error.
func TestShareKeepsAFailure(t *testing.T) {
	want := errors.New("no")
	for _, workers := range []int{1, 3} {
		calls := 0
		err := make(crew, workers).share(5, func(_ *worker, i int) error {
			if workers == 1 {
				calls++
			}
			if i == 0 {
				return want
			}
			return nil
		})
		if !errors.Is(err, want) || calls > 1 {
			t.Errorf("%d workers: %v after %d calls", workers, err, calls)
		}
	}
}
