package release

import (
	"math"
	"math/big"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

func TestUpNeverFlatters(t *testing.T) {
	for epsilon, want := range map[float64]string{
		4: "4", 3.99999999: "4", 2.45501: "2.4551", 1e-9: "0.0001", 0: "0", 9.99991: "10", 0.3: "0.3", 12: "12",
		1200: "1200", math.Inf(1): "+Inf",
		0.0009000000000000001: "0.001", 0.0051: "0.0051", // times 1e4, the first is 9 and the second above 51
	} {
		if got := Up(epsilon); got != want {
			t.Errorf("%v: %s, want %s", epsilon, got, want)
		}
	}
}

func TestRoundUpReadsBackAsNoLess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		decimals := rapid.IntRange(0, 12).Draw(t, "decimals")
		unit := math.Pow10(-decimals)
		v := rapid.OneOf(
			rapid.Float64Range(0, 100),
			rapid.Float64Min(0),
			rapid.Custom(func(t *rapid.T) float64 { // beside a decimal, where rounding goes wrong
				decimal := float64(rapid.IntRange(0, 1e6).Draw(t, "units")) * unit
				return math.Nextafter(decimal, rapid.SampledFrom([]float64{0, decimal, math.Inf(1)}).Draw(t, "towards"))
			}),
		).Draw(t, "v")
		text := RoundUp(v, decimals)
		if read, err := strconv.ParseFloat(text, 64); err != nil || read < v {
			t.Fatalf("%v prints as %s, which reads back as %v (%v)", v, text, read, err)
		}
		printed, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatalf("%v prints as %s", v, text)
		}
		excess := printed.Sub(printed, new(big.Rat).SetFloat64(v))
		last, _ := new(big.Rat).SetString("1e-" + strconv.Itoa(decimals))
		if excess.Cmp(last) >= 0 {
			t.Fatalf("%v prints as %s, %s too much", v, text, excess.FloatString(20))
		}
	})
}
