package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/cmd/internal/flags"
	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/runs"
	"github.com/dptrain/dptrain/cmd/internal/term"
)

func newRunsCompareCommand(g *global) *cobra.Command {
	var store flags.Store
	var asCSV bool
	cmd := &cobra.Command{
		Use:   "compare [RUN...]",
		Short: "Compare finished runs",
		Long: `Compare finished runs, by default all of the store: a table of what they
released.`,
		Example: `  dptrain runs compare
  dptrain runs compare runs/mnist-* --csv >mnist.csv`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runRunsCompare(g, store, flags.WithoutLedger(args), asCSV)
		},
	}
	store.Add(cmd)
	cmd.Flags().BoolVar(&asCSV, "csv", false, "print CSV")
	return cmd
}

func runRunsCompare(g *global, store flags.Store, dirs []string, asCSV bool) error {
	found, err := finishedRuns(store, dirs)
	if err != nil {
		return err
	}
	// The highest score comes first.
	slices.SortStableFunc(found, func(a, b runs.Info) int { return cmp.Compare(b.Score.Value, a.Score.Value) })
	lines := []runLine{}
	table := [][]string{{"RUN", "DATA", "MODEL", "METHOD", "EPSILON", "DELTA", "TUNED RATE", "FINAL RATE", "SCORE"}}
	rate := rounded
	if asCSV {
		rate = number
	}
	for _, i := range found {
		lines = append(lines, newRunLine(i))
		table = append(table, []string{filepath.Base(i.Dir), dataOf(i), i.Model, i.Method, epsilonText(i.Manifest), release.Exact(i.Delta),
			rate(i.TunedLearningRate), rate(i.LearningRate), scoreText(i.Score)})
	}
	return g.Table(lines, table, asCSV)
}

// finishedRuns reads the runs in the given folders, or the finished ones of the store.
func finishedRuns(store flags.Store, dirs []string) (found []runs.Info, err error) {
	if len(dirs) == 0 {
		all, err := runs.List(store.Dir())
		if err != nil {
			return nil, term.Input(err)
		}
		for _, i := range all {
			if i.Stage == runs.Finished && i.Score != nil && i.LearningRate != nil {
				found = append(found, i)
			}
		}
		if len(found) == 0 {
			return nil, term.Inputf("no finished run in %s; give folders of runs, or another --store", store.Dir())
		}
		return found, nil
	}
	for _, dir := range dirs {
		dir = store.Run(dir)
		i, err := runs.Open(dir)
		if err == nil && (i.Stage != runs.Finished || i.Score == nil || i.LearningRate == nil) {
			err = fmt.Errorf("%s: its state is %s; compare finished runs", dir, stateOf(i))
		}
		if err != nil {
			return nil, term.Input(err)
		}
		found = append(found, i)
	}
	return found, nil
}
