package figure

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// numbers prints values with all digits.
func numbers(values ...float64) []string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = strconv.FormatFloat(v, 'g', -1, 64)
	}
	return texts
}

// scientific prints a small value as a power of ten, in the markup of labels.
func scientific(v float64) string {
	text := strconv.FormatFloat(v, 'e', -1, 64)
	mantissa, exponent, _ := strings.Cut(text, "e")
	power, err := strconv.Atoi(exponent)
	switch {
	case err != nil, power >= -2:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case mantissa == "1":
		return fmt.Sprintf("10^−%d^", -power)
	}
	return fmt.Sprintf("%s·10^−%d^", mantissa, -power)
}

// up prints a positive bound with three digits, rounded up, so that it remains a bound.
func up(v float64) string {
	text := strconv.FormatFloat(v, 'g', 3, 64)
	if shown, err := strconv.ParseFloat(text, 64); err != nil || shown >= v {
		return text
	}
	unit := math.Pow10(int(math.Floor(math.Log10(v))) - 2)
	return strconv.FormatFloat(v+unit/2, 'g', 3, 64)
}

// grouped prints a count with commas between thousands.
func grouped(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
