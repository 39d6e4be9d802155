package figure

import (
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

func TestScientific(t *testing.T) {
	for v, want := range map[float64]string{
		1e-5: "10^−5^", 1e-12: "10^−12^", 2.5e-6: "2.5·10^−6^", 0.001: "10^−3^", 0.01: "0.01", 0.25: "0.25", 1: "1",
	} {
		if got := scientific(v); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
}

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

func TestGrouped(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 5000: "5,000", 1234567: "1,234,567"} {
		if got := grouped(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
