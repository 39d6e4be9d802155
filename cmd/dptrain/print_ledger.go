package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/runs/ledger"
)

// ledgerResult is what "dptrain ledger" prints as JSON. All of it is private.
type ledgerResult struct {
	Ledger string       `json:"ledger"` // path of the file
	Data   []ledgerData `json:"data"`
}

// ledgerData is a data set with its releases.
type ledgerData struct {
	Names    []string        `json:"names"` // of the data set, or of all files that count as it
	Rows     int             `json:"rows"`  // of the largest
	Together ledger.Total    `json:"together"`
	Budget   *ledgerBudget   `json:"budget,omitempty"`
	Releases []ledgerRelease `json:"releases"`
}

// ledgerBudget is the standing budget that leaves the least.
type ledgerBudget struct {
	Epsilon float64  `json:"epsilon"`
	Delta   float64  `json:"delta"`
	Spent   *float64 `json:"spent"` // epsilon of all releases at Delta; null if none is finite
	Left    float64  `json:"left"`  // the difference, or 0
}

type ledgerRelease struct {
	Run       string    `json:"run"`
	Path      string    `json:"path"`
	Command   string    `json:"command"`
	Data      string    `json:"data"` // the name it had
	Rows      int       `json:"rows"`
	Began     time.Time `json:"began"`
	Epsilon   float64   `json:"epsilon"` // as the run alone states
	Delta     float64   `json:"delta"`
	Guarantee bool      `json:"guarantee"` // false for an insecure seed or no noise
	Version   string    `json:"version"`

	// Whose the guarantee is, if not a row's.
	Unit        string `json:"unit,omitempty"`
	RowsPerUnit int    `json:"rows_per_unit,omitempty"`
}

// data returns the name of the release's data, with its unit.
func (r ledgerRelease) data() string {
	if r.Unit == "" {
		return r.Data
	}
	return fmt.Sprintf("%s, %s x %d", r.Data, r.Unit, r.RowsPerUnit)
}

// name returns the name that "dptrain runs list" shows, or showed.
func (r ledgerRelease) name() string {
	if r.Path == "" {
		return r.Run
	}
	return filepath.Base(r.Path)
}

func newLedgerResults(accounts []ledger.Account) []ledgerData {
	results := []ledgerData{}
	for _, a := range accounts {
		d := ledgerData{Together: a.Spent, Releases: []ledgerRelease{}}
		seen := map[string]bool{}
		for _, set := range a.Data {
			d.Rows = max(d.Rows, set.Rows)
			if !seen[set.Name] {
				d.Names = append(d.Names, set.Name)
			}
			seen[set.Name] = true
		}
		for _, r := range a.Releases {
			d.Releases = append(d.Releases, ledgerRelease{r.Run, r.Path, r.Command, r.Data.Name, r.Data.Rows, r.Began, r.Epsilon, r.Delta, !r.Void, r.Version, r.Unit, r.RowsPerUnit})
		}
		for _, s := range a.Budgets {
			if d.Budget == nil || s.Left() < d.Budget.Left {
				d.Budget = &ledgerBudget{Epsilon: s.Epsilon, Delta: s.Delta, Left: s.Left()}
				if !math.IsInf(s.Spent.Epsilon, 1) {
					d.Budget.Spent = &s.Spent.Epsilon
				}
			}
		}
		results = append(results, d)
	}
	return results
}

func printLedger(w io.Writer, path string, all []ledgerData) {
	if len(all) == 0 {
		fmt.Fprintf(w, "no release and no budget is recorded in %s\n", path)
		return
	}
	for i, d := range all {
		if i > 0 {
			fmt.Fprintln(w)
		}
		d.print(w)
	}
	fmt.Fprintf(w, "\nprivate, for the owner of the data: %s\n", path)
}

func (d ledgerData) print(w io.Writer) {
	names := make([]string, len(d.Names))
	for i, name := range d.Names {
		names[i] = cleaned(name)
	}
	t := d.Together
	pairs := [][2]string{
		{"data", fmt.Sprintf("%s, %s rows", strings.Join(names, ", "), release.Grouped(d.Rows))},
	}
	switch {
	case t.Apart():
		pairs = append(pairs, [2]string{"together", fmt.Sprintf("%s releases, %s", release.Grouped(t.Releases), t.Bound)})
	case t.Releases == 0:
		text := "no release so far"
		if t.Void > 0 {
			text = "no release with a guarantee"
		}
		pairs = append(pairs, [2]string{"together", text})
	case t.Releases == 1:
		pairs = append(pairs, [2]string{"together", fmt.Sprintf("1 release: epsilon %s at delta %s", release.Up(t.Epsilon), exact(t.Delta))})
	default:
		pairs = append(pairs,
			[2]string{"together", fmt.Sprintf("%s releases: epsilon %s at delta %s", release.Grouped(t.Releases), release.Up(t.Epsilon), exact(t.Delta))},
			[2]string{"bound", t.Bound},
			[2]string{"sum", fmt.Sprintf("epsilon %s at delta %s, by simple addition", release.Up(t.SumEpsilon), strconv.FormatFloat(t.SumDelta, 'g', 12, 64))})
	}
	if t.Void > 0 {
		pairs = append(pairs, [2]string{"no guarantee", fmt.Sprintf("%d %s; no epsilon covers what %s revealed", t.Void, plural(t.Void, "release", "releases"), plural(t.Void, "it", "they"))})
	}
	if b := d.Budget; b != nil {
		left := "nothing is left, every run is refused"
		if b.Left > 0 {
			left = fmt.Sprintf("%s is left", exact(floored(b.Left)))
		}
		pairs = append(pairs, [2]string{"budget", fmt.Sprintf("epsilon %s at delta %s; %s is spent, %s", exact(b.Epsilon), exact(b.Delta), spentText(b.Spent), left)})
	}
	rows(w, pairs...)
	if len(d.Releases) == 0 {
		return
	}
	fmt.Fprintln(w)
	lines := [][]string{{"BEGAN, UTC", "RUN", "COMMAND", "DATA", "EPSILON", "DELTA"}}
	for _, r := range d.Releases {
		epsilon, delta := release.Up(r.Epsilon), exact(r.Delta)
		if !r.Guarantee {
			epsilon, delta = "none", "no guarantee"
		}
		lines = append(lines, []string{r.Began.Format("2006-01-02 15:04:05"), r.name(), r.Command, r.data(), epsilon, delta})
	}
	columns(w, lines...)
}

func spentText(spent *float64) string {
	if spent == nil {
		return "more than any epsilon"
	}
	return release.Up(*spent)
}

// floored rounds what is left of a budget down to four decimals.
func floored(v float64) float64 {
	const unit, whole = 1e4, 1 << 53
	if v*unit >= whole { // it has no digits to cut off
		return v
	}
	return math.Floor(v*unit) / unit
}

func plural(n int, one, several string) string {
	if n == 1 {
		return one
	}
	return several
}

func printLedgerCSV(w io.Writer, all []ledgerData) {
	out := csv.NewWriter(w)
	_ = out.Write([]string{"data_set", "data", "rows", "began", "run", "command", "epsilon", "delta", "guarantee", "path", "version", "together_epsilon", "together_delta"})
	for i, d := range all {
		for _, r := range d.Releases {
			_ = out.Write([]string{strconv.Itoa(i + 1), r.Data, strconv.Itoa(r.Rows), r.Began.Format(time.RFC3339Nano), r.Run, r.Command,
				exact(r.Epsilon), exact(r.Delta), strconv.FormatBool(r.Guarantee), r.Path, r.Version, exact(d.Together.Epsilon), exact(d.Together.Delta)})
		}
	}
	out.Flush() // what it can't write, the writer below reports
}
