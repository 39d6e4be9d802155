package paper

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Verdict says whether a campaign's results agree with a claim.
type Verdict string

// The verdicts. An interval that contains both the claim and its opposite leaves it open.
const (
	Seen    Verdict = "seen"
	NotSeen Verdict = "not seen"
	Open    Verdict = "open"
	NoRuns  Verdict = "no runs"
)

// Finding is one comparison, on one data set.
type Finding struct {
	Where    string // data set, epsilon, method
	Seen     string // the number and its interval, or why there is none
	Verdict  Verdict
	value    float64
	interval Interval
	// against is the claim's one-sided p value: the probability that a comparison disagrees at least as much if the
	// claim holds. It is 0 for exact comparisons, whose verdict can't be chance.
	against float64
	decides bool   // whether this finding alone decides the claim
	runs    [2]int // numbers of compared runs
}

// without returns the finding of a comparison that lacks runs: it has no number.
func (f Finding) without() Finding {
	f.Verdict, f.Seen, f.value, f.interval = NoRuns, "no runs", math.NaN(), Interval{Missing: "no runs"}
	return f
}

// Outcome is the verdict on a claim by one accounting.
type Outcome struct {
	Claim
	Accounting string
	Verdict    Verdict
	Findings   []Finding
	Note       string // why it may differ
}

// Summary counts the findings by verdict.
func (o Outcome) Summary() string {
	count := map[Verdict]int{}
	judged := 0
	if len(o.Findings) > 0 && o.Findings[0].decides && o.Findings[0].Verdict != NoRuns {
		first := o.Findings[0]
		o.Findings = o.Findings[1:]
		return first.Where + ": " + first.Seen + "; " + o.Summary()
	}
	for _, f := range o.Findings {
		count[f.Verdict]++
		if f.Verdict != NoRuns {
			judged++
		}
	}
	if judged == 0 {
		return "no runs"
	}
	if judged == 1 && len(o.Findings) == 1 {
		return o.Findings[0].Where + ": " + o.Findings[0].Seen
	}
	var parts []string
	for _, v := range []Verdict{Seen, NotSeen, Open} {
		if count[v] > 0 {
			parts = append(parts, fmt.Sprintf("%s in %d", v, count[v]))
		}
	}
	text := fmt.Sprintf("%s of %d comparisons", strings.Join(parts, ", "), judged)
	if n := count[NoRuns]; n > 0 {
		text += fmt.Sprintf("; no runs for %d more", n)
	}
	return text
}

// judge returns a claim's verdict: seen if all findings are and none is missing, not seen if one of them excludes the
// claim, even allowing for the number of comparisons.
//
// By chance, all of n comparisons are seen at most as often as one of them, so "seen" needs no adjustment. But any of
// them excludes a true claim up to n times as often, so "not seen" takes Bonferroni's: a p value of at most 2.5 percent
// over the number of intervals.
//
// If a finding decides, the verdict is that finding's, and open as long as another is missing.
func (o Outcome) judge() Outcome {
	count, intervals := map[Verdict]int{}, 0
	for _, f := range o.Findings {
		count[f.Verdict]++
		if f.interval.Missing == "" {
			intervals++
		}
	}
	excluded := slices.ContainsFunc(o.Findings, func(f Finding) bool {
		return f.Verdict == NotSeen && f.against*float64(intervals) <= (1-confidence)/2
	})
	switch judged := len(o.Findings) - count[NoRuns]; {
	case judged == 0:
		o.Verdict = NoRuns
	case o.Findings[0].decides:
		o.Verdict = Open
		if count[NoRuns] == 0 {
			o.Verdict = o.Findings[0].Verdict
		}
	case excluded:
		o.Verdict = NotSeen
	case count[Seen] == len(o.Findings):
		o.Verdict = Seen
	default:
		o.Verdict = Open
	}
	return o
}

// above judges whether a is larger than b. Values that no draw of a run changes are exact, and need no interval.
func above(where string, a, b sample, exact bool, decimals int, unit string) Finding {
	f := Finding{Where: where, runs: [2]int{len(a), len(b)}}
	if len(a) == 0 || len(b) == 0 {
		return f.without()
	}
	if exact && a.equal() && b.equal() {
		f.value = a[0] - b[0]
		f.interval = Interval{Missing: "exact"}
		f.Seen = signed(f.value, decimals) + unit + ", exactly"
		f.Verdict = NotSeen
		if f.value > 0 {
			f.Verdict = Seen
		}
		return f
	}
	f.value, f.interval, f.against = average([]pair{{a, b}})
	return f.said(decimals, unit)
}

// overall judges whether a is larger than b in the mean over all pairs that have runs.
func overall(pairs []pair, decimals int, unit string) Finding {
	f := Finding{decides: true}
	pairs = slices.DeleteFunc(slices.Clone(pairs), func(p pair) bool { return len(p[0]) == 0 || len(p[1]) == 0 })
	f.Where = fmt.Sprintf("mean of %d comparisons", len(pairs))
	if len(pairs) == 0 {
		return f.without()
	}
	for _, p := range pairs {
		f.runs[0] += len(p[0])
		f.runs[1] += len(p[1])
	}
	f.value, f.interval, f.against = average(pairs)
	return f.said(decimals, unit)
}

// said adds an interval and its verdict to a difference that should be above 0.
func (f Finding) said(decimals int, unit string) Finding {
	f.Seen = signed(f.value, decimals) + unit
	if f.interval.Missing != "" {
		f.Seen += " (" + f.interval.Missing + ")"
		f.Verdict = Open
		return f
	}
	f.Seen += " [" + signed(f.interval.Low, decimals) + ",\u00a0" + signed(f.interval.High, decimals) + "]"
	f.Verdict = beyond(f.interval, 0)
	return f
}

// beyond judges an interval that should lie above a limit.
func beyond(i Interval, limit float64) Verdict {
	switch {
	case i.Low > limit:
		return Seen
	case i.High < limit:
		return NotSeen
	}
	return Open
}

// margin is the share by which a number may differ from the paper's and still agree with it.
const margin = 0.1

// quotient returns the ratio of two means, open.
func quotient(where string, a, b sample, unit string) Finding {
	f := Finding{Where: where, Verdict: Open, runs: [2]int{len(a), len(b)}}
	if len(a) == 0 || len(b) == 0 {
		return f.without()
	}
	f.value, f.interval = ratio(a, b)
	f.Seen = fixed(f.value, 2) + unit
	if f.interval.Missing != "" {
		f.Seen += " (" + f.interval.Missing + ")"
	} else {
		f.Seen += " " + f.interval.text(2)
	}
	return f
}

// about judges whether a ratio is the paper's number: seen if the whole interval is within the margin around it, not
// seen if none of the interval is.
func about(where string, a, b sample, paper float64) Finding {
	f := quotient(where, a, b, " times")
	if f.interval.Missing != "" {
		return f
	}
	low, high := paper*(1-margin), paper*(1+margin)
	switch {
	case f.interval.Low >= low && f.interval.High <= high:
		f.Verdict = Seen
	case f.interval.High < low || f.interval.Low > high:
		f.Verdict = NotSeen
	}
	f.against = min(tail(a, b, low, f.value), 1-tail(a, b, high, f.value))
	return f
}
