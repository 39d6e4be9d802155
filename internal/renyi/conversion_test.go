package renyi

import "testing"

// A bound that overflows is a delta of 1, not NaN.
func TestOverflowIsNoDelta(t *testing.T) {
	if d := DeltaAt(1024, 1e306, 1e306); d != 1 {
		t.Errorf("delta is %v", d)
	}
}
