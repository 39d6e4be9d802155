package figure

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func labels(low, high float64) string {
	var texts []string
	for _, mark := range ticks(low, high) {
		texts = append(texts, mark.Label)
	}
	return strings.Join(texts, " ")
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      string
	}{
		{0, 1, "0.0 0.2 0.4 0.6 0.8 1.0"},
		{0, 24, "0 4 8 12 16 20 24"},
		{1.45, 5.41, "1 2 3 4 5 6"},
		{1.45, 9.91, "0 2 4 6 8 10"},
		{0.00011, 0.00019, "0.00010 0.00012 0.00014 0.00016 0.00018 0.00020"},
		{0, 6e-9, "0 1e-09 2e-09 3e-09 4e-09 5e-09 6e-09"},
	} {
		if got := labels(c.low, c.high); got != c.want {
			t.Errorf("%v to %v: %s, want %s", c.low, c.high, got, c.want)
		}
	}
}

func TestTicksSpanTheDataAndDiffer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.Float64Range(0, 1e3).Draw(t, "low")
		high := low + rapid.Float64Range(1e-3, 1e4).Draw(t, "width")
		marks := ticks(low, high)
		width := high - low
		if first, last := marks[0].Value, marks[len(marks)-1].Value; first > low+1e-6*width || last < high-1e-6*width {
			t.Fatalf("%v to %v: ticks from %v to %v", low, high, first, last)
		}
		if len(marks) < 4 || len(marks) > 9 {
			t.Fatalf("%v to %v: %d ticks", low, high, len(marks))
		}
		seen := map[string]bool{}
		for _, mark := range marks {
			if seen[mark.Label] {
				t.Fatalf("%v to %v: label %s twice", low, high, mark.Label)
			}
			seen[mark.Label] = true
		}
	})
}

func TestLogTicks(t *testing.T) {
	for _, c := range []struct {
		low, high float64 // themselves, not their logarithms
		want      string
	}{
		{0.012, 0.3, "0.01 0.02 0.05 0.1 0.2 0.5"},
		{0.1, 1, "0.1 0.2 0.5 1"},
		{0.0011, 2, "0.001 0.01 0.1 1 10"},
		{3, 3.001, "2 5"},
		{3, 300, "1 10 100 1000"},
		{2e-6, 9e-6, "2e-06 5e-06 1e-05"},
		{1e-20, 1, "1e-20 1e-16 1e-12 1e-08 0.0001 1"},
	} {
		var texts []string
		for _, mark := range logTicks(math.Log10(c.low), math.Log10(c.high)) {
			texts = append(texts, mark.Label)
		}
		if got := strings.Join(texts, " "); got != c.want {
			t.Errorf("%v to %v: %s, want %s", c.low, c.high, got, c.want)
		}
	}
}

func TestLogTicksHoldTheAxis(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.Float64Range(-280, 280).Draw(t, "low")
		high := low + rapid.Float64Range(1e-3, 25).Draw(t, "length")
		marks := logTicks(low, high)
		if n := len(marks); n < 2 || n > 12 || marks[0].Value > low+1e-9 || marks[n-1].Value < high-1e-9 {
			t.Fatalf("%v to %v: %v", low, high, marks)
		}
	})
}
