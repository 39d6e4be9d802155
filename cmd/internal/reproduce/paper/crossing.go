package paper

import (
	"fmt"
	"strings"

	"github.com/dptrain/dptrain/cmd/internal/figure"
)

// boundsOutcomes judges what the paper says about its bounds: at mu = 45 variant 1 costs more than variant 2 at small
// subset rates, and less at larger ones. A note describes other accountings, which the sentence isn't about.
func boundsOutcomes(b figure.Bounds) []Outcome {
	claim := Claim{
		Label: "compare_dp_bounds/crossing", Figure: "compare_dp_bounds", Source: "Privacy Analysis, below the figure",
		Sentence: "When μ = 45, the bounds of the variants 1 and 2 cross at small values of q.",
		Here:     "whether that of variant 1 is the larger one before they cross; the paper concludes that it could be tightened",
	}
	o := Outcome{Claim: claim, Accounting: "paper"}
	f := Finding{Where: "μ = 45"}.without()
	var others []string
	for _, mode := range b.Modes() {
		rates, one := b.Curve(45, mode, "variant1")
		_, two := b.Curve(45, mode, "variant2")
		if len(rates) == 0 {
			continue
		}
		seen, verdict := crossing(rates, one, two)
		if mode == o.Accounting {
			f.Seen, f.Verdict, f.interval = seen, verdict, Interval{Missing: "exact"}
		} else {
			others = append(others, fmt.Sprintf("By %s accounting %s.", mode, seen))
		}
	}
	if len(others) > 0 {
		o.Note = "The sentence is about the paper's bounds. " + strings.Join(others, " ")
	}
	o.Findings = []Finding{f}
	return []Outcome{o.judge()}
}

// crossing describes where the first curve is above the second. The claim is that it is above from the smallest rate up
// to a rate below a half.
func crossing(rates, one, two []float64) (string, Verdict) {
	var parts []string
	for i := 0; i < len(rates); {
		j := i
		for j < len(rates) && (one[j] > two[j]) == (one[i] > two[i]) {
			j++
		}
		relation := "isn't above variant 2"
		if one[i] > two[i] {
			relation = "lies above variant 2"
		}
		span := fmt.Sprintf("from %v to %v", rates[i], rates[j-1])
		if j == i+1 {
			span = fmt.Sprintf("at %v", rates[i])
		}
		parts = append(parts, fmt.Sprintf("%s for q %s", relation, span))
		i = j
	}
	verdict := NotSeen
	for i := range rates {
		if one[i] > two[i] {
			continue
		}
		if i > 0 && rates[i-1] < 0.5 {
			verdict = Seen
		}
		break
	}
	return "variant 1 " + strings.Join(parts, ", "), verdict
}
