package figure

import (
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

func TestUpIsCloseAndNeverBelow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Float64Range(1e-12, 1e12).Draw(t, "v")
		shown, err := strconv.ParseFloat(up(v), 64)
		if err != nil || shown < v || shown > v*1.0101 {
			t.Fatalf("%v is shown as %q", v, up(v))
		}
	})
	if got := up(0); got != "0" {
		t.Errorf("0 is shown as %q", got)
	}
}
