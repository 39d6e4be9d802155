package paper

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cmd/internal/reproduce/campaign"
)

// Every way that a comparison can end. The differences' standard errors are 0.02 to 0.03, so their intervals are far
// from the limits.
func TestAbove(t *testing.T) {
	high, low := sample{9.9, 10, 10.1}, sample{4.9, 5, 5.1}
	for name, c := range map[string]struct {
		a, b  sample
		exact bool
		want  Verdict
		says  string
	}{
		"above":            {high, low, false, Seen, "+5.00 points [+"},
		"below":            {low, high, false, NotSeen, "−5.00 points [−"},
		"as high":          {high, sample{9.8, 10, 10.2}, false, Open, "0.00 points [−"},
		"one value":        {sample{10}, low, false, Open, "one repetition: no interval"},
		"equal values":     {sample{10, 10}, sample{5, 5}, false, Open, "all repetitions are equal: no interval"},
		"exactly above":    {sample{10, 10}, sample{5}, true, Seen, "+5.00 points, exactly"},
		"exactly below":    {sample{5}, sample{10}, true, NotSeen, "−5.00 points, exactly"},
		"exactly as high":  {sample{5}, sample{5}, true, NotSeen, "0.00 points, exactly"},
		"not exact at all": {high, low, true, Seen, "["},
		"none":             {nil, low, true, NoRuns, "no runs"},
	} {
		if f := above("here", c.a, c.b, c.exact, 2, " points"); f.Verdict != c.want || !strings.Contains(f.Seen, c.says) {
			t.Errorf("%s: %s, %q; want %s, %q", name, f.Verdict, f.Seen, c.want, c.says)
		}
	}
}

// A number is seen if the whole interval is within a tenth of it, not seen if none of the interval is.
func TestAbout(t *testing.T) {
	a := sample{29.9, 30, 30.1} // six times the other
	b := sample{4.99, 5, 5.01}
	for paper, want := range map[float64]Verdict{6: Seen, 6.3: Seen, 5.6: Seen, 5: NotSeen, 9.03: NotSeen, 6.66: Open} {
		if f := about("here", a, b, paper); f.Verdict != want {
			t.Errorf("about %v: %s, %s; want %s", paper, f.Verdict, f.Seen, want)
		}
	}
	if f := about("here", sample{1, 60}, b, 6); f.Verdict != Open {
		t.Errorf("a wide interval: %s, %s", f.Verdict, f.Seen)
	}
	if f := about("here", a[:1], b, 6); f.Verdict != Open || !strings.Contains(f.Seen, oneRepetition) {
		t.Errorf("one value: %s, %s", f.Verdict, f.Seen)
	}
}

func TestVerdictsAddUp(t *testing.T) {
	of := func(verdicts ...Verdict) Outcome {
		var o Outcome
		for _, v := range verdicts {
			o.Findings = append(o.Findings, Finding{Where: "x", Verdict: v})
		}
		return o.judge()
	}
	for _, c := range []struct {
		findings []Verdict
		want     Verdict
		summary  string
	}{
		{[]Verdict{Seen, Seen}, Seen, "seen in 2 of 2 comparisons"},
		{[]Verdict{Seen, NoRuns}, Open, "seen in 1 of 1 comparisons; no runs for 1 more"},
		{[]Verdict{Seen, Open, Open}, Open, "seen in 1, open in 2 of 3 comparisons"},
		{[]Verdict{Seen, Open, NotSeen}, NotSeen, "seen in 1, not seen in 1, open in 1 of 3 comparisons"},
		{[]Verdict{NoRuns}, NoRuns, "no runs"},
		{nil, NoRuns, "no runs"},
	} {
		o := of(c.findings...)
		if o.Verdict != c.want || o.Summary() != c.summary {
			t.Errorf("%v: %s, %q; want %s, %q", c.findings, o.Verdict, o.Summary(), c.want, c.summary)
		}
	}
}

// One of 16 comparisons refutes a claim at 2.5/16 = 0.156 percent. A comparison alone, and an exact one, need no such
// care.
func TestOneOfManyIsChance(t *testing.T) {
	others := slices.Repeat([]Finding{{Verdict: Open}}, 15)
	for _, c := range []struct {
		findings []Finding
		want     Verdict
	}{
		{append([]Finding{{Verdict: NotSeen, against: 0.0016}}, others...), Open},
		{append([]Finding{{Verdict: NotSeen, against: 0.0015}}, others...), NotSeen},
		{append([]Finding{{Verdict: NotSeen, interval: Interval{Missing: "exact"}}}, others...), NotSeen},
		{[]Finding{{Verdict: NotSeen, against: 0.0249}}, NotSeen},
		{[]Finding{{Verdict: NotSeen, against: 0.0249}, Finding{}.without()}, NotSeen},
		{[]Finding{{Verdict: NotSeen, against: 0.0249}, {Verdict: Open, interval: Interval{Missing: oneRepetition}}}, NotSeen},
		{[]Finding{{Verdict: NotSeen, against: 0.0249}, {Verdict: Seen}}, Open},
	} {
		if got := (Outcome{Findings: c.findings}).judge().Verdict; got != c.want {
			t.Errorf("%d findings, the first with p = %v: %s, want %s", len(c.findings), c.findings[0].against, got, c.want)
		}
	}
}

// If the mean decides, no comparison does by itself, but none may be missing.
func TestTheMeanDecides(t *testing.T) {
	mean := func(v Verdict) Finding { return Finding{Where: "mean of 2", Seen: "+1", Verdict: v, decides: true} }
	missing := Finding{}.without()
	for _, c := range []struct {
		findings []Finding
		want     Verdict
		summary  string
	}{
		{[]Finding{mean(Seen), {Verdict: NotSeen}, {Verdict: Open}}, Seen, "mean of 2: +1; not seen in 1, open in 1 of 2 comparisons"},
		{[]Finding{mean(Open), {Verdict: Seen}, {Verdict: Seen}}, Open, "mean of 2: +1; seen in 2 of 2 comparisons"},
		{[]Finding{mean(NotSeen), {Verdict: Open}, {Verdict: Open}}, NotSeen, "mean of 2: +1; open in 2 of 2 comparisons"},
		{[]Finding{mean(Seen), {Verdict: Seen}, missing}, Open, "mean of 2: +1; seen in 1 of 1 comparisons; no runs for 1 more"},
		{[]Finding{mean(NotSeen), {Verdict: NotSeen}, missing}, Open, "mean of 2: +1; not seen in 1 of 1 comparisons; no runs for 1 more"},
		{[]Finding{overall(nil, 2, ""), missing, missing}, NoRuns, "no runs"},
	} {
		o := Outcome{Findings: c.findings}.judge()
		if o.Verdict != c.want || o.Summary() != c.summary || len(o.Findings) != len(c.findings) {
			t.Errorf("%v: %s, %q; want %s, %q", c.findings, o.Verdict, o.Summary(), c.want, c.summary)
		}
	}
	f := overall([]pair{{{1, 3}, {4, 6}}, {{10, 12}, {1, 3}}, {{1}, nil}}, 2, " points")
	if f.Verdict != Seen || f.Seen != "+3.00 points [+0.22,\u00a0+5.78]" || f.Where != "mean of 2 comparisons" || f.runs != [2]int{4, 4} {
		t.Errorf("%+v", f)
	}
}

// With equal means, 16 comparisons of 10 by 10 runs are "not seen" in no more than 2.5 percent of campaigns, and never
// seen. The draws are the same each time; by chance the bound of 3.5 percent would be passed once in a thousand.
func TestChanceRarelyRefutes(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	draw := func() sample {
		s := make(sample, 10)
		for i := range s {
			s[i] = random.NormFloat64()
		}
		return s
	}
	const times = 2000
	count := map[Verdict]int{}
	for range times {
		var o Outcome
		for range 16 {
			o.Findings = append(o.Findings, above("", draw(), draw(), false, 2, ""))
		}
		count[o.judge().Verdict]++
	}
	if share := float64(count[NotSeen]) / times; share > 0.035 || share < 0.01 {
		t.Errorf("%.4f are not seen", share)
	}
	if count[Seen] > 0 {
		t.Errorf("%d are seen", count[Seen])
	}
}

// verdicts returns the verdict of each claim about all figures, by the last part of its label.
func verdicts(t *testing.T, s Selection, given []campaign.Result) map[string]Verdict {
	t.Helper()
	r := collect(s, given)
	found := map[string]Verdict{}
	for _, f := range Figures() {
		for _, o := range r.outcomes(f) {
			if _, twice := found[o.Label+"/"+o.Accounting]; twice {
				t.Errorf("two claims %s by %s accounting", o.Label, o.Accounting)
			}
			found[o.Label+"/"+o.Accounting] = o.Verdict
		}
	}
	return found
}

// Campaigns whose truth is known: the paper is right in everything, or wrong in everything.
func TestClaimsFindTheTruth(t *testing.T) {
	s := Selection{Datasets: Datasets(), Epsilons: []float64{1, 4}, Accountings: []string{"paper"}, Repetitions: 4}
	agrees := map[campaign.Method]float64{campaign.Variant1: 1, campaign.Variant2: 2, campaign.Baseline: 3, campaign.Single: 3}
	make := func(reversed bool) []campaign.Result {
		results := invent(Figures(), s, nil)
		for i := range results {
			r := &results[i]
			rank := agrees[r.Method]
			// When all is tuned, variant 2 is the best by accuracy; its noise is still the second.
			accuracyRank := rank
			if r.Space == campaign.All && r.Method != campaign.Baseline {
				accuracyRank = 3 - rank
			}
			sign := 1.
			if reversed {
				sign = -1
			}
			wobble := 1e-4 * float64(r.Repetition%2)
			r.Accuracy = 0.8 - sign*0.05*accuracyRank + wobble
			r.NoiseMultiplier = 5 + sign*rank
			if r.Space == campaign.All {
				r.NoiseMultiplier += sign*0.5 + wobble
			}
			ratio := 6.0
			switch {
			case r.Space == campaign.All:
				ratio = 8
			case r.Dataset == "fashion-mnist" && r.Optimizer == "dp-adam":
				ratio = 9.03
			}
			r.Seconds, r.Gradients = 1+wobble, 1+wobble
			if r.Method == campaign.Baseline {
				r.Seconds = ratio + wobble
				r.Gradients = 6 + wobble
				if r.Space == campaign.All {
					r.Gradients = 8 + wobble
				}
			}
			if reversed {
				r.Seconds, r.Gradients = 1/r.Seconds, 1/r.Gradients
			}
		}
		return results
	}
	seen, refuted := verdicts(t, s, make(false)), verdicts(t, s, make(true))
	// Accuracy and cost of two variants in four experiments, which variant is better in three, gradients in four,
	// twice, two times; noise below the baseline's in four, of variant 1 below variant 2 in two, above the other
	// experiment's in one.
	if want := 4*4 + 3 + 2*4 + 2 + 4*2 + 2 + 1; len(seen) != want {
		t.Errorf("%d claims, want %d", len(seen), want)
	}
	for label, v := range seen {
		if v != Seen {
			t.Errorf("%s is %s, and it is so", label, v)
		}
		// No run changes an expectation.
		if w := refuted[label]; w != NotSeen && !strings.HasSuffix(label, "/gradients_expected/any") {
			t.Errorf("%s is %s, and it isn't so", label, w)
		}
	}
	for label, v := range verdicts(t, s, nil) {
		if v != NoRuns && !strings.HasSuffix(label, "/gradients_expected/any") {
			t.Errorf("%s is %s without runs", label, v)
		}
	}
}

// A single repetition decides nothing but comparisons of noise where the rate alone is tuned, which isn't drawn.
func TestOneRepetitionIsOpen(t *testing.T) {
	s := Selection{Datasets: []string{"mnist"}, Epsilons: []float64{2}, Accountings: []string{"paper"}, Repetitions: 1}
	for label, v := range verdicts(t, s, invent(Figures(), s, nil)) {
		want := Open
		switch {
		case strings.Contains(label, "gradients_expected"):
			want = Seen
		case strings.Contains(label, "_lr_detailed_") && strings.Contains(label, "noise_"):
			want = Seen
		case strings.Contains(label, "time_"): // on other data sets
			want = NoRuns
		}
		if v != want {
			t.Errorf("%s: %s, want %s", label, v, want)
		}
	}
}

func TestCrossing(t *testing.T) {
	rates := []float64{0.1, 0.2, 0.3, 0.6, 0.9}
	for name, c := range map[string]struct {
		one  []float64
		want Verdict
		says string
	}{
		"cross":        {[]float64{3, 1, 1, 1}, Seen, "variant 1 lies above variant 2 for q up to 0.1"},
		"never above":  {[]float64{1, 1, 1, 1}, NotSeen, "variant 1 isn't above variant 2 at small q"},
		"always above": {[]float64{3, 3, 3, 3}, NotSeen, "variant 1 lies above variant 2 at all q"},
		"in between":   {[]float64{1, 3, 1, 1}, NotSeen, "variant 1 isn't above variant 2 at small q"},
		"up to 0.3":    {[]float64{3, 3, 3, 1}, Seen, "variant 1 lies above variant 2 for q up to 0.3"},
		"up to most":   {[]float64{3, 3, 3, 3, 1}, NotSeen, "variant 1 lies above variant 2 for q up to 0.6"},
		"above late":   {[]float64{1, 1, 1, 3}, NotSeen, "variant 1 isn't above variant 2 at small q"},
	} {
		if says, v := crossing(rates[:len(c.one)], c.one, []float64{2, 2, 2, 2, 2}); v != c.want || says != c.says {
			t.Errorf("%s: %s, %q", name, v, says)
		}
	}
}

// The built-in data set isn't the paper's: its figures are drawn, and nothing is judged by them.
func TestOtherDatasetsAreNotJudged(t *testing.T) {
	s := Selection{Datasets: []string{"glyphs"}, Epsilons: []float64{1, 4}, Accountings: []string{"paper"}, Repetitions: 3}
	for label, v := range verdicts(t, s, invent(Figures(), s, nil)) {
		if v != NoRuns {
			t.Errorf("%s: %s", label, v)
		}
	}
	in := small()
	in.Selection = s
	in.Results = invent(in.Figures, s, nil)
	if page := pageOf(t, in); !strings.Contains(page, "The paper says nothing about glyphs") {
		t.Error("the page doesn't say so")
	}
}

// Noise that follows from the budget is judged before anything is trained. Drawn noise and accuracy are not.
func TestPlannedNoiseIsJudged(t *testing.T) {
	in := small()
	in.Figures, in.Results = Figures(), nil
	in.Selection = Selection{Datasets: []string{"mnist"}, Epsilons: []float64{2}, Accountings: []string{"paper"}, Repetitions: 3}
	in.Noise = map[campaign.Cell]float64{}
	for _, f := range in.Figures {
		for _, job := range f.Jobs(in.Selection) {
			// The paper's order, and another for DP-Adam.
			noise := map[campaign.Method]float64{campaign.Variant1: 2.8, campaign.Variant2: 3.1, campaign.Baseline: 5.4}
			if f.Optimizer == "dp-adam" {
				noise[campaign.Variant1] = 3.2
			}
			if job.Method != campaign.Single {
				in.Noise[job.Cell] = noise[job.Method]
			}
		}
	}
	r := in.results()
	for label, want := range map[string]Verdict{
		"figure_tune_lr_detailed_dp_sgd/noise_v1_below_baseline": Seen, "figure_tune_lr_detailed_dp_sgd/noise_v1_below_v2": Seen,
		"figure_tune_lr_detailed_dp_adam/noise_v1_below_baseline": Seen, "figure_tune_lr_detailed_dp_adam/noise_v1_below_v2": NotSeen,
		"figure_tune_all_detailed_dp_sgd/noise_v1_below_baseline": NoRuns, "figure_tune_lr_dp_sgd/accuracy_v1_above_baseline": NoRuns,
	} {
		name, _, _ := strings.Cut(label, "/")
		i := slices.IndexFunc(in.Figures, func(f Figure) bool { return f.Label == name })
		outcomes := r.outcomes(in.Figures[i])
		j := slices.IndexFunc(outcomes, func(o Outcome) bool { return o.Label == label })
		if j < 0 || outcomes[j].Verdict != want || outcomes[j].Findings[0].runs != [2]int{} {
			t.Errorf("%s: %+v, want %s", label, outcomes[max(0, j)], want)
		}
	}
}

// A comparison without runs has no number in the file, and one with an interval has its p value.
func TestClaimsFileHasNoInventedNumbers(t *testing.T) {
	s := Selection{Datasets: []string{"mnist", "imdb"}, Epsilons: []float64{1}, Accountings: []string{"paper"}, Repetitions: 3}
	given := invent(Figures(), s, func(t campaign.Job) bool { return t.Dataset == "imdb" })
	r := collect(s, given)
	rows := claimsTable(slices.Concat(boundsOutcomes(*fewBounds()), r.outcomes(Figures()[2]))).Numbers
	kinds := map[string]int{}
	for _, row := range rows[1:] {
		verdict, numbers := row[5], strings.Join(slices.Concat(row[6:9], row[11:]), " ")
		switch {
		case verdict == "no runs":
			kinds["none"]++
			if strings.TrimSpace(numbers) != "" {
				t.Errorf("%s: numbers %q", row, numbers)
			}
		case strings.HasSuffix(row[0], "gradients_expected") || strings.HasSuffix(row[0], "crossing"):
			kinds["exact"]++
			if row[7]+row[8]+row[11] != "" {
				t.Errorf("%s: an exact comparison has an interval", row)
			}
		default:
			kinds["interval"]++
			if len(strings.Fields(numbers)) != 4 {
				t.Errorf("%s: numbers %q, want four", row, numbers)
			}
		}
	}
	if kinds["none"] == 0 || kinds["exact"] != 3 || kinds["interval"] == 0 {
		t.Errorf("rows: %v", kinds)
	}
}

// The page names the paper's data sets for which nothing was judged, and the numbers that judged each sentence.
func TestPageSaysWhatIsCompared(t *testing.T) {
	page := pageOf(t, small())
	for _, want := range []string{
		"Its experiments have FashionMNIST and CIFAR-10 too. Claims are judged without them here.",
		"Overall, variant 1 has a better privacy-utility trade-off than the baseline.", "in the mean over all data sets and ε", "mean of 4 comparisons: ",
		"any accounting: seen in 2 of 2 comparisons", "The sentence is about the paper&#39;s bounds. By tight accounting variant 1 ",
		"at most 3 of each point",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page doesn't say %q", want)
		}
	}
	in := small()
	in.Selection.Datasets = Datasets()
	if page := pageOf(t, in); strings.Contains(page, "Its experiments have") {
		t.Error("nothing is left out")
	}
}
