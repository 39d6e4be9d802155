package page

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/internal/float"
)

// shortened cuts a text after the given number of characters.
func shortened(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most]) + "…"
}

// ownFiles is the name of data that are the user's own files.
const ownFiles = "own files"

// dataText names a run's data.
func dataText(m release.Model) string {
	if m.Dataset == "files" {
		return ownFiles
	}
	return m.Dataset
}

// shapeText prints the shape of a sample.
func shapeText(shape []int) string {
	var parts []string
	for _, n := range shape {
		parts = append(parts, release.Grouped(n))
	}
	return strings.Join(parts, " × ")
}

// sizeText prints a number of bytes.
func sizeText(bytes int64) string {
	switch {
	case bytes < 10_000:
		return release.Grouped(int(bytes)) + " B"
	case bytes < 10_000_000:
		return release.Grouped(int((bytes+999)/1000)) + " kB"
	}
	return release.Grouped(int((bytes+999_999)/1_000_000)) + " MB"
}

// secondsText prints a duration.
func secondsText(seconds float64) string {
	switch {
	case seconds < 10:
		return fmt.Sprintf("%.2f s", seconds)
	case seconds < 100:
		return fmt.Sprintf("%.1f s", seconds)
	case seconds < 6000:
		return fmt.Sprintf("%.1f min", seconds/60)
	}
	return fmt.Sprintf("%.1f h", seconds/3600)
}

// short prints a number with up to three digits, and as a power of ten if it is far from 1.
func short(v float64) string {
	if m := math.Abs(v); v == 0 || m >= 1e-3 && m < 1e5 {
		return minus(strconv.FormatFloat(float.Rounded(v, 3), 'f', -1, 64))
	}
	return power(strconv.FormatFloat(v, 'e', 2, 64))
}

// exact prints a number with all its digits, and as a power of ten if it is far from 1.
func exact(v float64) string {
	if m := math.Abs(v); v == 0 || m >= 1e-3 && m < 1e9 {
		return minus(strconv.FormatFloat(v, 'f', -1, 64))
	}
	return power(strconv.FormatFloat(v, 'e', -1, 64))
}

// rounded prints three digits of a positive number, rounded up, except for the rounding error of its float64.
func rounded(v float64) string {
	if v <= 0 || math.IsInf(v, 1) {
		return short(v)
	}
	unit := math.Pow(10, math.Floor(math.Log10(v))-2)
	if unit == 0 {
		return short(v)
	}
	return short(math.Ceil(v/unit*(1-1e-12)) * unit)
}

// power turns 2.50e-07 into 2.5·10⁻⁷, and 1e-05 into 10⁻⁵.
func power(scientific string) string {
	mantissa, exponent, ok := strings.Cut(scientific, "e")
	if !ok {
		return scientific // NaN and infinities
	}
	if strings.Contains(mantissa, ".") {
		mantissa = strings.TrimSuffix(strings.TrimRight(mantissa, "0"), ".")
	}
	n, _ := strconv.Atoi(exponent)
	raised := "10" + superscript.Replace(strconv.Itoa(n))
	switch mantissa {
	case "1":
		return raised
	case "-1":
		return "−" + raised
	}
	return minus(mantissa) + "·" + raised
}

var superscript = strings.NewReplacer("-", "⁻", "0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹")

// minus replaces a hyphen by a minus sign.
func minus(number string) string { return strings.Replace(number, "-", "−", 1) }
