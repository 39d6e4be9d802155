package page

import (
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNumbers(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 1e-5: "10⁻⁵", 2.5e-7: "2.5·10⁻⁷", 0.0031622776601683794: "0.00316", 12: "12", 1234.5: "1230", -3.2e60: "−3.2·10⁶⁰", 1e18: "10¹⁸", 0.285: "0.285",
		-1e-9: "−10⁻⁹", 99999: "100000", 1e5: "10⁵",
	} {
		if got := short(v); got != want {
			t.Errorf("short %v: %s, want %s", v, got, want)
		}
	}
	for v, want := range map[float64]string{1e-5: "10⁻⁵", 1.234567e-5: "1.234567·10⁻⁵", 0.001: "0.001", 0.0213: "0.0213", 15: "15"} {
		if got := exact(v); got != want {
			t.Errorf("exact %v: %s, want %s", v, got, want)
		}
	}
	for v, want := range map[float64]string{54.59815: "54.6", 20.0855: "20.1", 3e-5: "3·10⁻⁵", 1.0001e-6: "1.01·10⁻⁶", 1: "1"} {
		if got := rounded(v); got != want {
			t.Errorf("rounded %v: %s, want %s", v, got, want)
		}
	}
	for epsilon, want := range map[float64]string{4: "54.6", 0.2: "1.23", 0: "1", 20: "10⁹", 199890: "10⁸⁶⁸¹²", 1e300: ""} {
		if got := factorText(epsilon); got != want {
			t.Errorf("e to %v: %s, want %s", epsilon, got, want)
		}
	}
}

// A bound in a table is never below the computed one, except for rounding errors.
func TestRoundedIsNoSmaller(t *testing.T) {
	digits := strings.NewReplacer("·10", "e", "⁻", "-", "⁰", "0", "¹", "1", "²", "2", "³", "3", "⁴", "4", "⁵", "5", "⁶", "6", "⁷", "7", "⁸", "8", "⁹", "9")
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Float64Range(1e-12, 1e5).Draw(t, "v")
		text := rounded(v)
		if strings.HasPrefix(text, "10⁻") || strings.HasPrefix(text, "10⁵") {
			text = "1·" + text
		}
		read, err := strconv.ParseFloat(digits.Replace(text), 64)
		if err != nil || !(read >= v*(1-1e-11) && read <= v*1.0101) {
			t.Fatalf("%v prints as %s, which is %v (%v)", v, text, read, err)
		}
	})
}
