package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/cmd/internal/runs/ledger"
	"github.com/dptrain/dptrain/datasets"
	"github.com/dptrain/dptrain/datasets/table"
)

// ledgerOptions name the ledger and how it is shown.
type ledgerOptions struct {
	store string
	csv   bool
}

func newLedgerCommand(g *global) *cobra.Command {
	var opts ledgerOptions
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
Rows are equal if all columns are, so a file with a column more or less, or with
other units, is another data set to the ledger, though it isn't in truth: add up
their epsilons yourself. A file that is a hundred times smaller than another one
may be missed if it shares few rows. Runs that were made without this ledger, in
another --store or by another program, aren't in it.

Guarantees for single rows and for units with several rows (--unit) have no common
epsilon, nor have those of two columns or numbers of rows: the ledger then says
so instead, and a standing budget refuses such a run. A release for units is
listed with its column and the most rows of each, as "patient x 5".

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

` + exitCodes,
		Example: `  dptrain ledger
  dptrain ledger census.csv
  dptrain ledger budget census.csv --epsilon 8
  dptrain ledger --csv >releases.csv`,
		Args:              atMostOneData,
		ValidArgsFunction: cobra.FixedCompletions(datasetNames(), cobra.ShellCompDirectiveDefault),
		RunE: func(cmd *cobra.Command, args []string) error {
			data := ""
			if len(args) == 1 {
				data = args[0]
			}
			return runLedger(cmd.Context(), g, opts, data)
		},
	}
	storeFlag(cmd, &opts.store)
	cmd.Flags().BoolVar(&opts.csv, "csv", false, "print a line of comma-separated values for each release")
	cmd.AddCommand(newLedgerBudgetCommand(g))
	return cmd
}

func datasetNames() []string {
	return slices.DeleteFunc(datasets.AllNames(), func(name string) bool {
		_, err := datasets.Describe(name)
		return err != nil // weights
	})
}

func atMostOneData(cmd *cobra.Command, args []string) error {
	if len(args) == 1 && args[0] == "" {
		return usagef("%s: the name of the data set is empty", cmd.CommandPath())
	}
	return takes(0, 1, "one data set or file")(cmd, args)
}

func runLedger(ctx context.Context, g *global, opts ledgerOptions, data string) error {
	if opts.csv && g.json {
		return usagef("--csv and --json contradict each other; give one")
	}
	dir := storeDir(opts.store)
	if _, err := os.Stat(dir); err != nil && (opts.store != "" || !errors.Is(err, fs.ErrNotExist)) {
		return coded(codeInput, fmt.Errorf("the folder of runs: %w", err))
	}
	l, err := ledger.Open(dir)
	if err != nil {
		return err
	}
	if err := warnUnrecorded(g.console(), l, dir); err != nil {
		return err
	}
	accounts, err := await(ctx, "accounting for the ledger", func() ([]ledger.Account, error) {
		if data == "" {
			return l.Accounts()
		}
		d, err := resolveData(l, data)
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
	if opts.csv {
		return g.text(func(w io.Writer) { printLedgerCSV(w, results) })
	}
	return g.print(ledgerResult{Ledger: l.Path(), Data: results}, func(w io.Writer) { printLedger(w, l.Path(), results) })
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
		if slices.ContainsFunc(table.Formats(), isFile) || filepath.Base(name) != name {
			return ledger.Data{}, fmt.Errorf("%w, and the ledger has no data set of this name", missing)
		}
		slices.Sort(known)
		return ledger.Data{}, unknown("data set", name, slices.Compact(known))
	}
	return ledger.Data{}, coded(codeInput, fmt.Errorf("%d different data sets are recorded as %q; give the path of the file that you mean", len(found), name))
}

// sketched returns the data set of a file.
func sketched(path string) (d ledger.Data, err error) {
	file, err := table.Open(path)
	if err != nil {
		return d, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	s, err := table.SketchOf(file)
	return ledger.OfFile(filepath.Base(path), s.Rows(), s), err
}
