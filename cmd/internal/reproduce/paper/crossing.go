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

// crossing describes up to where the first curve is above the second. The claim is that it is above from the smallest
// rate up to a rate below a half.
func crossing(rates, one, two []float64) (string, Verdict) {
	above := 0
	for above < len(rates) && one[above] > two[above] {
		above++
	}
	switch {
	case above == 0:
		return "variant 1 isn't above variant 2 at small q", NotSeen
	case above == len(rates):
		return "variant 1 lies above variant 2 at all q", NotSeen
	}
	verdict := NotSeen
	if rates[above-1] < 0.5 {
		verdict = Seen
	}
	return fmt.Sprintf("variant 1 lies above variant 2 for q up to %v", rates[above-1]), verdict
}
