package release

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Up prints an epsilon by [RoundUp] with four decimals.
func Up(epsilon float64) string { return RoundUp(epsilon, 4) }

// RoundUp prints v >= 0 with up to the given number of decimals. The printed number is at least v and exceeds it by
// less than one unit of the last decimal. So a printed guarantee is never better than the computed one, and a printed
// noise multiplier is never too small. RoundUp adds the unit to an exact fraction, because v times a power of ten would
// itself be rounded, perhaps down.
func RoundUp(v float64, decimals int) string {
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	if read, _ := strconv.ParseFloat(text, 64); read < v {
		printed, _ := new(big.Rat).SetString(text)
		unit := big.NewRat(1, int64(math.Pow10(decimals)))
		text = unit.Add(unit, printed).FloatString(decimals)
	}
	if strings.Contains(text, ".") {
		text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// Grouped prints a count with commas between thousands.
func Grouped(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// EpsilonAt prints a guarantee.
func EpsilonAt(epsilon, delta float64) string {
	return "epsilon " + Up(epsilon) + " at delta " + Exact(delta)
}

// Whole prints a number as the nearest count.
func Whole(v float64) string { return Grouped(int(math.Round(v))) }

// Exact prints every digit: noise multipliers are made to be used again.
func Exact(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
