package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/cmd/internal/flags"
	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/runs"
	"github.com/dptrain/dptrain/cmd/internal/term"
	"github.com/dptrain/dptrain/internal/show"
	"github.com/dptrain/dptrain/train"
)

func newRunsCommand(g *global) *cobra.Command {
	cmd := term.Group(&cobra.Command{
		Use:   "runs",
		Short: "List and show runs, and clean up after killed ones",
		Long: `List and show runs, and clean up after killed ones.

Each "tune" or "train" makes a folder in the store, a folder of runs: --store,
else $` + flags.StoreVariable + `, else runs. Its run.json and released/ are public; private/
is not.`,
	})
	cmd.AddCommand(newRunsListCommand(g), newRunsShowCommand(g), newRunsCleanCommand(g))
	return cmd
}

func newRunsListCommand(g *global) *cobra.Command {
	var store flags.Store
	var asCSV bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the runs of a store",
		Long: `List the runs of a store, with what became of them:

  running    a process carries the run out
  killed     no process does, and it has not ended: "dptrain resume" goes on
  stopped    by a signal or an error: "dptrain resume" goes on
  not begun  killed before any training: "dptrain resume" begins
  finished   the model is in released/
  failed     no model came out, and the budget counts as spent`,
		Example: `  dptrain runs list
  dptrain runs list --csv >runs.csv
  dptrain runs list --store /data/runs --json`,
		Args: term.NoArgs,
		RunE: func(*cobra.Command, []string) error { return runRunsList(g, store.Dir(), asCSV, false) },
	}
	store.Add(cmd)
	cmd.Flags().BoolVar(&asCSV, "csv", false, "print CSV")
	return cmd
}

// runLine is a run in a list. Its manifest has the state as people read it.
type runLine struct {
	Folder string `json:"folder"`
	runs.Manifest
	Resumable bool `json:"resumable"`
}

func newRunLine(i runs.Info) runLine {
	line := runLine{term.Relative(i.Dir), i.Manifest, i.Resumable()}
	line.Stage = runs.Stage(stateOf(i))
	return line
}

func stateOf(i runs.Info) string {
	switch {
	case i.Running:
		return "running"
	case i.Stage == runs.Planned:
		return "not begun"
	case i.Stage == runs.Training:
		return "killed"
	}
	return string(i.Stage)
}

// dataOf returns the name by which people know a run's data.
func dataOf(i runs.Info) string {
	if i.Record != nil && i.Record.Data != "" {
		return i.Record.Data
	}
	return i.Dataset
}

func scoreText(s *runs.Score) string {
	if s == nil {
		return ""
	}
	return release.Score{Metric: train.Metric(s.Metric), Value: s.Value}.String()
}

func runRunsList(g *global, store string, asCSV, resumable bool) error {
	found, err := runs.List(store)
	unreadable := term.Input(err)
	if resumable {
		found = slices.DeleteFunc(found, func(i runs.Info) bool { return !i.Resumable() })
	}
	lines := []runLine{}
	table := [][]string{{"RUN", "DAY", "COMMAND", "DATA", "MODEL", "EPSILON", "DELTA", "STATE", "SCORE"}}
	for _, i := range found {
		epsilon := release.Up(i.Epsilon)
		if !i.Guarantee {
			epsilon = "void"
		}
		lines = append(lines, newRunLine(i))
		table = append(table, []string{filepath.Base(i.Dir), i.Day, i.Command, dataOf(i), i.Model, epsilon, release.Exact(i.Delta), stateOf(i), scoreText(i.Score)})
	}
	if len(found) == 0 && !g.JSON && !asCSV {
		return errors.Join(g.Text(func(w io.Writer) {
			fmt.Fprintf(w, "no runs in %s%s\n", store, map[bool]string{true: " that can be resumed"}[resumable])
		}), unreadable)
	}
	return errors.Join(g.Table(lines, table, asCSV), unreadable)
}

func newRunsShowCommand(g *global) *cobra.Command {
	return &cobra.Command{
		Use:   "show RUN",
		Short: "Show a run",
		Long: `Show a run: what it is, what became of it and what it released. What the guarantee
doesn't cover is in its folder "private": times in record.json, trials and their
scores in run.json. "dptrain report" makes a page of them.`,
		Example: `  dptrain runs show runs/mnist-20261122-100352`,
		Args:    term.Takes(1, 1, "one run"),
		RunE:    func(_ *cobra.Command, args []string) error { return runRunsShow(g, flags.Store{}.Run(args[0])) },
	}
}

func runRunsShow(g *global, dir string) error {
	i, err := runs.Open(dir)
	if err != nil {
		return term.Input(err)
	}
	pairs := release.Facts{
		{"run", term.Relative(i.Dir)},
		{"state", stateOf(i)},
		{"command", i.Command + ", begun on " + i.Day},
		{"data", fmt.Sprintf("%s, %s training samples", dataOf(i), release.Grouped(i.Samples))},
		{"model", i.Model},
	}
	if i.Method != "" {
		pairs.Add("method", i.Method)
	}
	privacy := release.EpsilonAt(i.Epsilon, i.Delta)
	if !i.Guarantee {
		privacy = "no guarantee: the seed is insecure, or there is no noise"
	}
	pairs.Add("privacy", privacy)
	if i.Score != nil {
		on := " on the public test set"
		if i.Score.HeldOut {
			on = " on held-out private rows, with noise"
		}
		pairs.Add(i.Score.Metric, scoreText(i.Score)+on)
	} else if i.Stage == runs.Finished {
		pairs.Add("score", "none: there were no public rows")
	}
	if i.TunedLearningRate != nil && i.LearningRate != nil {
		pairs.Add("learning rate", fmt.Sprintf("%.4g found by tuning, %.4g in the final run", *i.TunedLearningRate, *i.LearningRate))
	} else if i.LearningRate != nil {
		pairs.Add("learning rate", fmt.Sprintf("%.4g", *i.LearningRate))
	}
	if i.Resumable() {
		pairs.Add("go on", "dptrain resume "+show.Quoted(term.Relative(i.Dir)))
	}
	return g.Print(map[string]runLine{"run": newRunLine(i)}, func(w io.Writer) { term.Rows(w, pairs) })
}

func newRunsCleanCommand(g *global) *cobra.Command {
	var store flags.Store
	var abandon []string
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "clean",
		Short: "Remove what killed processes left behind",
		Long: `Remove what killed processes left behind in a store and no run needs: folders
half made, and keys and states of runs that have ended. It leaves alone what
a process uses and what can be resumed, except runs named by --abandon: their key
is destroyed and their folder removed. What an abandoned run has cost stays
spent, and in the ledger.`,
		Example: `  dptrain runs clean --dry-run
  dptrain runs clean --abandon runs/mnist-20261122-100352`,
		Args: term.NoArgs,
		RunE: func(*cobra.Command, []string) error { return runRunsClean(g, store, abandon, dryRun) },
	}
	store.Add(cmd)
	cmd.Flags().StringArrayVar(&abandon, "abandon", nil, "also remove the `run` in this folder, which was cut off; may be repeated")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "print what would be removed, and remove nothing")
	return cmd
}

// cleanedStore is the result of "runs clean".
type cleanedStore struct {
	Removed []string `json:"removed"`
}

func runRunsClean(g *global, store flags.Store, abandon []string, dryRun bool) error {
	left, err := runs.Leftovers(store.Dir())
	if err != nil {
		return term.Input(err)
	}
	done := cleanedStore{Removed: []string{}}
	var failed error
	remove := func(path string, by func(string) error) {
		if !dryRun {
			if err := by(path); err != nil {
				failed = errors.Join(failed, term.Input(err))
				return
			}
		}
		done.Removed = append(done.Removed, term.Relative(path))
	}
	for _, path := range left {
		remove(path, runs.RemoveLeftover)
	}
	for _, path := range abandon {
		path = store.Run(path)
		if i, err := runs.Open(path); err != nil || !i.Resumable() {
			if err == nil {
				err = fmt.Errorf("%s: its state is %s; only runs that were cut off can be abandoned", path, stateOf(i))
			}
			failed = errors.Join(failed, term.Input(err))
			continue
		}
		remove(path, runs.Abandon)
	}
	return errors.Join(g.Print(done, func(w io.Writer) {
		verb := "removed "
		if dryRun {
			verb = "would remove "
		}
		for _, path := range done.Removed {
			fmt.Fprintln(w, verb+path)
		}
		if len(done.Removed) == 0 {
			fmt.Fprintln(w, "nothing to remove")
		}
	}), failed)
}
