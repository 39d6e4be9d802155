package page

import (
	"fmt"
	"strings"

	"github.com/dptrain/dptrain/cmd/internal/release"
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
