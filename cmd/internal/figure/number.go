package figure

import (
	"math"
	"strconv"
)

// number prints a value with all digits.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// numbers prints values with all digits.
func numbers(values ...float64) []string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = number(v)
	}
	return texts
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
