package paper

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/reproduce/campaign"
)

// missing describes cells with fewer runs than the selection has repetitions.
func (r *results) missing(figures []Figure) []string {
	var lines []string
	seen := map[campaign.Cell]bool{}
	for _, f := range figures {
		for _, j := range f.Jobs(r.Selection) {
			if n := len(r.byCell[j.Cell]); n < r.Repetitions && !seen[j.Cell] {
				lines = append(lines, fmt.Sprintf("%s: %d of %d runs", j.Cell, n, r.Repetitions))
			}
			seen[j.Cell] = true
		}
	}
	return lines
}

// facts describes the runs. Days aren't repeatable, so a seeded campaign's page has none.
func (r *results) facts(in Input) release.Facts {
	distinct := func(of func(campaign.Result) string) string {
		found := map[string]int{}
		for _, result := range r.all {
			if text := of(result); text != "" {
				found[text]++
			}
		}
		var texts []string
		for _, text := range slices.Sorted(maps.Keys(found)) {
			if len(found) > 1 {
				text += fmt.Sprintf(" (%s runs)", release.Grouped(found[text]))
			}
			texts = append(texts, text)
		}
		return strings.Join(texts, "; ")
	}
	var names, epsilons []string
	for _, d := range r.Datasets {
		names = append(names, DatasetName(d))
	}
	for _, e := range r.Epsilons {
		epsilons = append(epsilons, fmt.Sprint(e))
	}
	most := ""
	if len(r.missing(in.Figures)) > 0 {
		most = "at most "
	}
	facts := release.Facts{
		{"data sets", strings.Join(names, ", ")},
		{"epsilon", strings.Join(epsilons, ", ") + " for tuning and final training together"},
		{"accountings", strings.Join(r.Accountings, ", ")},
		{"repetitions", most + fmt.Sprintf("%d of each cell", r.Repetitions)},
		{"trained by", distinct(func(r campaign.Result) string { return r.MadeBy })},
		{"on", distinct(func(r campaign.Result) string { return r.Machine })},
	}
	if in.Seed != nil {
		facts.Add("randomness", fmt.Sprintf("seed %d of the campaign, from which those of the runs follow", *in.Seed))
	} else {
		facts.Add("randomness", "of the operating system, a key of its own for each run")
		facts.Add("begun on", distinct(func(r campaign.Result) string { return r.Day }))
	}
	facts.Add("figures by", in.Program)
	return slices.DeleteFunc(facts, func(f release.Fact) bool { return f[1] == "" })
}

// differs lists the differences from the paper.
func differs(accountings []string) []string {
	lines := []string{
		"IMDB's reviews are cut to 256 tokens of bert-base-cased. The paper names Opacus's example as its source, and no length.",
		"The ResNet-20 of CIFAR-10 has public weights of CIFAR-100 and rectifiers, with which they were trained. The paper names tempered sigmoids for it, but only its last layer is trained, and that has none.",
		"The tempered sigmoid is tanh. The paper doesn't give its scale, temperature and offset.",
		"The paper's accounting is done at the integer Rényi orders 2 to 256. The paper names its orders for one figure alone, which goes to 24.",
		"The mean number of trials is 45 where all hyperparameters are tuned. The paper says of these experiments that it is higher than 15, and names 45 for the bounds and the savings.",
		"The paper names the sampling rates and the orders of its figure of RDP curves, and not its noise multipliers and numbers of steps. The first ones here are those of the bounds.",
		"Points of the paper's figures can't be compared: it gives no numbers for them.",
	}
	if slices.Contains(accountings, "best") || slices.Contains(accountings, "tight") {
		lines = append([]string{"The paper's accounting is “paper” here. “tight” and “best” are smaller bounds for the same training, so the same epsilon takes less noise; the paper has neither."}, lines...)
	}
	return lines
}
