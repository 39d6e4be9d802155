package paper

import (
	"math"
	"testing"
)

// The first group of Student's sleep data: R's t.test prints a mean of 0.75 and the interval -0.5297804 to 2.0297804.
func TestIntervalIsThatOfR(t *testing.T) {
	s := sample{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0}
	if mean, half := s.mean(), s.half(); math.Abs(mean-0.75) > 1e-12 || math.Abs(half-1.2797804) > 1e-6 {
		t.Errorf("%v ± %v", mean, half)
	}
	if one := (sample{7}); one.mean() != 7 || !math.IsNaN(one.half()) {
		t.Errorf("one value: %v ± %v", one.mean(), one.half())
	}
	if none := (sample{}); !math.IsNaN(none.mean()) || !math.IsNaN(none.half()) {
		t.Errorf("none: %v ± %v", none.mean(), none.half())
	}
	if same := (sample{0.1, 0.1, 0.1}); same.half() != 0 {
		t.Errorf("equal values ± %v", same.half())
	}
}
