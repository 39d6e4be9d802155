package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/cmd/internal/execution"
	"github.com/dptrain/dptrain/cmd/internal/flags"
	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/runs"
	"github.com/dptrain/dptrain/cmd/internal/runs/ledger"
	"github.com/dptrain/dptrain/cmd/internal/term"
	"github.com/dptrain/dptrain/datasets/table"
	"github.com/dptrain/dptrain/internal/datasets"
)

func newLedgerCommand(g *global) *cobra.Command {
	var store flags.Store
	cmd := &cobra.Command{
		Use:   "ledger [DATA]",
		Short: "What was released of each data set, what all of it costs together, and standing budgets",
		Long: `Show what was released of each data set, and the epsilon of everything together.

Each statement of a run is about the run alone. Budgets add up: who gets two runs
from the same rows learns more about them than either says. The ledger has a
record of every run, from before its training on, and computes the guarantee of
all runs of a data set together. By the composition of what they did that is
mostly far less than the sum of their epsilons. A run without any guarantee,
because of --insecure-seed, is listed too, and no epsilon covers it.

A data set that is known by name is one data set in all editions. A file of your
own is known by its rows: under another name, in another folder, order or format
it is the same data set. Two files are one data set if they share more than about
5 % of the smaller one's rows, and so are files that others connect in this way.
Rows are equal if all columns are. A file with other columns, other names or rounded
amounts may still seem alike by its columns, or have a known name and number of
rows: then a run warns, and a standing budget refuses it with exit code 8, until
--same-as NAME adds the two up or --new-data keeps them apart. That is remembered.
Tables of few values, amounts in another unit, and less than half of the rows in
other columns aren't recognised: give --same-as yourself. A file that is a hundred
times smaller than another one may be missed if it shares few rows. Runs that were
made without this ledger, in another --store or by another program, aren't in it.

Guarantees for single rows and for units with several rows (--unit) have no common
epsilon, nor have those of two columns: the ledger then says so instead, and a
standing budget refuses such a run. Those of one column add up, with any
--rows-per-unit. A release for units is listed with its column and the most rows
of each, as "patient x 5".

The numbers hold if each run's settings were chosen by public reasons, and not by
what an earlier run revealed about private rows.

"dptrain ledger budget" sets a standing budget for a data set. Runs that would
exceed it are then refused, before they train, with exit code 8.

All of this is private: it is for the owner of the data. Which runs exist, and
that two files share rows, can depend on private rows, and no guarantee covers
it. The ledger is the file ledger.json in the folder of runs, which only you can
read. Don't publish it, and keep a copy: what it forgets can't be made again.
Nothing is ever removed from it, since a release can't be taken back.

DATA is the name of a data set, a file, or the name of a file as the ledger has
it. Without DATA all are shown.

` + term.ExitCodes,
		Example: `  dptrain ledger
  dptrain ledger census.csv
  dptrain ledger budget census.csv --epsilon 8`,
		Args:              term.Takes(0, 1, "one data set or file"),
		ValidArgsFunction: cobra.FixedCompletions(datasetNames(), cobra.ShellCompDirectiveDefault),
		RunE:              func(cmd *cobra.Command, args []string) error { return runLedger(cmd.Context(), g, store, args...) },
	}
	store.Add(cmd)
	cmd.AddCommand(newLedgerBudgetCommand(g))
	return cmd
}

func datasetNames() []string {
	return slices.DeleteFunc(datasets.AllNames(), func(name string) bool {
		_, err := datasets.Describe(name)
		return err != nil // weights
	})
}

// runLedger shows the releases of the named data set, or without a name those of all.
func runLedger(ctx context.Context, g *global, store flags.Store, data ...string) error {
	dir := store.Dir()
	if _, err := os.Stat(dir); err != nil && (store.Given != "" || !errors.Is(err, fs.ErrNotExist)) {
		return term.Inputf("the folder of runs: %w", err)
	}
	l, err := ledger.Open(dir)
	if err != nil {
		return err
	}
	found, _ := runs.List(dir) // what can't be read is for "runs list" to say
	warning, err := execution.Unrecorded(l, found)
	if err != nil {
		return err
	}
	if warning != "" {
		g.Console().Log().Warn(warning)
	}
	accounts, err := term.Await(ctx, "accounting for the ledger", func() ([]ledger.Account, error) {
		if len(data) == 0 {
			return l.Accounts()
		}
		d, err := resolveData(l, data[0])
		if err != nil {
			return nil, err
		}
		a, err := l.Account(d)
		if len(a.Data) == 0 { // nothing is recorded of it
			a.Data = []ledger.Data{d}
		}
		return []ledger.Account{a}, err
	})
	if err != nil {
		return err
	}
	results := newLedgerResults(accounts)
	return g.Print(ledgerResult{Ledger: l.Path(), Data: results}, func(w io.Writer) { printLedger(w, l.Path(), results) })
}

// resolveData returns the data set with a name, that of a file, or the recorded file of a name.
func resolveData(l *ledger.Ledger, name string) (ledger.Data, error) {
	if info, err := datasets.Describe(name); err == nil {
		return ledger.Named(name, info.Train), nil
	}
	_, missing := os.Stat(name)
	if missing == nil {
		return sketched(name)
	}
	if !errors.Is(missing, fs.ErrNotExist) {
		return ledger.Data{}, missing
	}
	sets, err := l.DataSets()
	if err != nil {
		return ledger.Data{}, err
	}
	var found []ledger.Data
	known := datasetNames()
	for _, set := range sets {
		named := func(d ledger.Data) bool { return d.Name == name }
		if i := slices.IndexFunc(set, named); i >= 0 {
			found = append(found, set[i])
		}
		for _, d := range set {
			known = append(known, d.Name)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		isFile := func(format string) bool { return strings.HasSuffix(strings.ToLower(name), format) }
		if name != "" && (slices.ContainsFunc(table.Formats(), isFile) || filepath.Base(name) != name) {
			return ledger.Data{}, fmt.Errorf("%w, and the ledger has no data set of this name", missing)
		}
		slices.Sort(known)
		return ledger.Data{}, term.Unknown("data set", name, slices.Compact(known))
	}
	return ledger.Data{}, term.Inputf("%d different data sets are recorded as %q; give the path of the file that you mean", len(found), name)
}

// sketched returns the data set of a file.
func sketched(path string) (d ledger.Data, err error) {
	file, err := table.Open(path)
	if err != nil {
		return d, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	s, err := file.Sketch()
	return ledger.OfFile(filepath.Base(path), s.Rows(), s), err
}

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
		for _, set := range a.Data {
			d.Rows = max(d.Rows, set.Rows)
			if !slices.Contains(d.Names, set.Name) {
				d.Names = append(d.Names, set.Name)
			}
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
	t := d.Together
	pairs := release.Facts{{"data", fmt.Sprintf("%s, %s rows", strings.Join(d.Names, ", "), release.Grouped(d.Rows))}}
	switch {
	case t.Apart():
		pairs.Add("together", fmt.Sprintf("%s releases, %s", release.Grouped(t.Releases), t.Bound))
	case t.Releases == 0:
		text := "no release so far"
		if t.Void > 0 {
			text = "no release with a guarantee"
		}
		pairs.Add("together", text)
	case t.Releases == 1:
		pairs.Add("together", "1 release: "+release.EpsilonAt(t.Epsilon, t.Delta))
	default:
		pairs.Add("together", release.Grouped(t.Releases)+" releases: "+release.EpsilonAt(t.Epsilon, t.Delta))
		pairs.Add("bound", t.Bound)
		pairs.Add("sum", fmt.Sprintf("epsilon %s at delta %s, by simple addition", release.Up(t.SumEpsilon), strconv.FormatFloat(t.SumDelta, 'g', 12, 64)))
	}
	if t.Void > 0 {
		pairs.Add("no guarantee", fmt.Sprintf("%d %s; no epsilon covers what %s revealed", t.Void, term.Plural(t.Void, "release", "releases"), term.Plural(t.Void, "it", "they")))
	}
	if b := d.Budget; b != nil {
		left := "nothing is left, every run is refused"
		if b.Left > 0 {
			left = fmt.Sprintf("%s is left", release.Exact(floored(b.Left)))
		}
		pairs.Add("budget", fmt.Sprintf("epsilon %s at delta %s; %s is spent, %s", release.Exact(b.Epsilon), release.Exact(b.Delta), spentText(b.Spent), left))
	}
	term.Rows(w, pairs)
	if len(d.Releases) == 0 {
		return
	}
	fmt.Fprintln(w)
	lines := [][]string{{"BEGAN, UTC", "RUN", "COMMAND", "DATA", "EPSILON", "DELTA"}}
	for _, r := range d.Releases {
		epsilon, delta := release.Up(r.Epsilon), release.Exact(r.Delta)
		if !r.Guarantee {
			epsilon, delta = "none", "no guarantee"
		}
		lines = append(lines, []string{r.Began.Format("2006-01-02 15:04:05"), r.name(), r.Command, r.data(), epsilon, delta})
	}
	term.Columns(w, lines...)
}

func spentText(spent *float64) string {
	if spent == nil {
		return "more than any epsilon"
	}
	return release.Up(*spent)
}

// floored rounds the rest of a budget down to four decimals, if it has as many.
func floored(v float64) float64 { return math.Min(v, math.Floor(1e4*v)/1e4) }
