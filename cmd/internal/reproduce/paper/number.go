package paper

import (
	"math"
	"strconv"
	"strings"
)

// fixed prints a number with a minus sign and some decimals, and nothing for NaN.
func fixed(v float64, decimals int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Trim(text, "-0.") == "" {
		text = strings.TrimPrefix(text, "-") // not −0
	}
	return strings.Replace(text, "-", "−", 1)
}

// signed prints a difference with its sign.
func signed(v float64, decimals int) string {
	if text := fixed(v, decimals); text == "" || strings.HasPrefix(text, "−") || strings.Trim(text, "0.") == "" {
		return text
	} else {
		return "+" + text
	}
}

// digits prints a number with three significant digits.
func digits(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	if v == 0 {
		return "0"
	}
	return fixed(v, max(0, 2-int(math.Floor(math.Log10(math.Abs(v))))))
}

// millions prints a count in millions.
func millions(v float64) string { return digits(v / 1e6) }

// text prints an interval, or why there is none.
func (i Interval) text(decimals int) string {
	if i.Missing != "" {
		return i.Missing
	}
	return "[" + fixed(i.Low, decimals) + ",\u00a0" + fixed(i.High, decimals) + "]" // the space doesn't break
}

// number prints a number of the interval with all digits, and nothing without an interval.
func (i Interval) number(v float64) string {
	if i.Missing != "" {
		return ""
	}
	return number(v)
}

// list prints numbers with all digits.
func list(values []float64, between string) string {
	var texts []string
	for _, v := range values {
		texts = append(texts, number(v))
	}
	return strings.Join(texts, between)
}
