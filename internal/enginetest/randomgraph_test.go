package enginetest

import "testing"

// A gradient that bends isn't taken for one that jumps: then unlessTied would hide faults.
func TestJumps(t *testing.T) {
	s := Suite{Tolerance: 2e-4}
	for name, c := range map[string]struct {
		slope func(move float64) float64
		want  bool
	}{
		"bends":   {func(move float64) float64 { return 3 + 50*move + 1e6*move*move }, false},
		"falls":   {func(move float64) float64 { return map[bool]float64{true: 3, false: 2}[move < 0x1p-21] }, true},
		"rises":   {func(move float64) float64 { return map[bool]float64{true: 3, false: 2}[move < -0x1p-21] }, true},
		"is none": {func(move float64) float64 { return 0 }, false},
	} {
		if got := s.jumps(func(move float64) [][]float64 { return [][]float64{nil, {1, c.slope(move)}} }); got != c.want {
			t.Errorf("a gradient that %s: jumps %v", name, got)
		}
	}
}
