package paper

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/reproduce/campaign"
)

// count returns how many runs a figure has, and how many it needs.
func (r *results) count(f Figure) (have, want int) {
	jobs := f.Jobs(r.Selection)
	for cell := range cellsOf(jobs) {
		have += len(r.byCell[cell])
	}
	return have, len(jobs)
}

func cellsOf(jobs []campaign.Job) map[campaign.Cell]int {
	cells := map[campaign.Cell]int{}
	for _, j := range jobs {
		cells[j.Cell]++
	}
	return cells
}

// missing describes cells with fewer runs than the selection has repetitions.
func (r *results) missing(figures []Figure) []string {
	var lines []string
	seen := map[campaign.Cell]bool{}
	for _, f := range figures {
		for _, j := range f.Jobs(r.Selection) {
			if n := len(r.byCell[j.Cell]); n < r.Repetitions && !seen[j.Cell] {
				lines = append(lines, fmt.Sprintf("%s, %s, %s, %s accounting, ε = %s: %d of %d runs",
					f.tuning(), DatasetName(j.Dataset), j.Method, j.Accounting, number(j.Epsilon), n, r.Repetitions))
			}
			seen[j.Cell] = true
		}
	}
	return lines
}

// facts describes the runs. Days aren't repeatable, so a seeded campaign's page has none.
func (r *results) facts(in Input) []fact {
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
	names := make([]string, 0, len(r.Datasets))
	for _, d := range r.Datasets {
		names = append(names, DatasetName(d))
	}
	most := ""
	if len(r.missing(in.Figures)) > 0 {
		most = "at most "
	}
	facts := []fact{
		{"data sets", strings.Join(names, ", ")},
		{"epsilon", list(r.Epsilons, ", ") + " for tuning and final training together" + r.delta()},
		{"accountings", strings.Join(r.Accountings, ", ")},
		{"repetitions", most + fmt.Sprintf("%d of each cell", r.Repetitions)},
		{"trained by", distinct(func(r campaign.Result) string { return r.MadeBy })},
		{"on", distinct(func(r campaign.Result) string { return r.Machine })},
	}
	if r.seeded {
		facts = append(facts, fact{"randomness", r.seeds(in)})
	} else {
		facts = append(facts, fact{"randomness", "of the operating system, a key of its own for each run"})
		if days := r.days(); days != "" {
			facts = append(facts, fact{"days", days})
		}
	}
	facts = append(facts, fact{"figures by", in.Program})
	return slices.DeleteFunc(facts, func(f fact) bool { return f.Text == "" })
}

// delta names the deltas of runs: one, unless something is wrong.
func (r *results) delta() string {
	found := map[float64]bool{}
	for _, result := range r.all {
		found[result.Delta] = true
	}
	if len(found) == 0 {
		return ""
	}
	text := list(slices.Sorted(maps.Keys(found)), ", ")
	return ", at delta " + strings.ReplaceAll(text, "1e-05", "10⁻⁵")
}

// days returns the first and the last day on which a run began.
func (r *results) days() string {
	var days []string
	for _, result := range r.all {
		if result.Day != "" {
			days = append(days, result.Day)
		}
	}
	if len(days) == 0 {
		return ""
	}
	first, last := slices.Min(days), slices.Max(days)
	if first == last {
		return first
	}
	return first + " to " + last
}

// seeds describes the source of the random draws.
func (r *results) seeds(in Input) string {
	without := 0
	distinct := map[uint64]bool{}
	for _, result := range r.all {
		if result.Seed == nil {
			without++
		} else {
			distinct[*result.Seed] = true
		}
	}
	text := fmt.Sprintf("%s seeds, which the runs' folders have", release.Grouped(len(distinct)))
	if in.Seed != nil {
		text = fmt.Sprintf("seed %d of the campaign, from which those of the runs follow", *in.Seed)
	} else if all := slices.Sorted(maps.Keys(distinct)); len(all) <= 12 {
		text = strings.TrimSpace("seeds " + strings.Trim(fmt.Sprint(all), "[]"))
	}
	if without > 0 {
		text += fmt.Sprintf("; the operating system's for %s runs", release.Grouped(without))
	}
	return text
}
