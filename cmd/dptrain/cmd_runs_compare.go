package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/internal/figure"
	"github.com/dptrain/dptrain/internal/runs"
)

func newRunsCompareCommand(g *global) *cobra.Command {
	var dir, plot string
	var asCSV bool
	cmd := &cobra.Command{
		Use:   "compare [RUN...]",
		Short: "Compare finished runs",
		Long: `Compare finished runs, by default all of the store: a table of what they
released. --plot draws, for each run, the scores of its trials over their learning
rates, the winner and the final run. Trials are private, so don't publish the
plot.`,
		Example: `  dptrain runs compare
  dptrain runs compare runs/mnist-* --csv >mnist.csv
  dptrain runs compare runs/mnist-* --plot private-scores.svg`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runRunsCompare(cmd.Context(), g, storeDir(dir), withoutLedger(args), plot, asCSV)
		},
	}
	storeFlag(cmd, &dir)
	cmd.Flags().BoolVar(&asCSV, "csv", false, "print CSV")
	cmd.Flags().StringVar(&plot, "plot", "", "`file` for a plot of the private trials, ending in .svg, .pdf or .png, or in .csv for its numbers")
	return cmd
}

func runRunsCompare(ctx context.Context, g *global, store string, dirs []string, plot string, asCSV bool) error {
	found, err := finishedRuns(store, dirs)
	if err != nil {
		return err
	}
	slices.SortStableFunc(found, func(a, b runs.Info) int { return better(a.Score, b.Score) })
	lines := []runLine{}
	table := [][]string{{"RUN", "DATA", "MODEL", "METHOD", "EPSILON", "DELTA", "TUNED RATE", "FINAL RATE", "SCORE"}}
	rate := rounded
	if asCSV {
		rate = number
	}
	for _, i := range found {
		lines = append(lines, newRunLine(i))
		table = append(table, []string{filepath.Base(i.Dir), dataOf(i), i.Model, i.Method, epsilonText(i.Manifest), exact(i.Delta),
			rate(i.TunedLearningRate), rate(i.LearningRate), scoreText(i.Score)})
	}
	if plot != "" {
		if err := plotTrials(ctx, g, found, plot); err != nil {
			return err
		}
	}
	return g.table(lines, table, asCSV)
}

// better orders scores, the highest first.
func better(a, b *runs.Score) int {
	switch {
	case a.Value > b.Value:
		return -1
	case a.Value < b.Value:
		return 1
	}
	return 0
}

// finishedRuns reads the runs in the given folders, or the finished ones of the store.
func finishedRuns(store string, dirs []string) (found []runs.Info, err error) {
	if len(dirs) == 0 {
		all, err := runs.List(store)
		if err != nil {
			return nil, coded(codeInput, err)
		}
		for _, i := range all {
			if i.Stage == runs.Finished && i.Score != nil && i.LearningRate != nil {
				found = append(found, i)
			}
		}
		if len(found) == 0 {
			return nil, coded(codeInput, fmt.Errorf("no finished run in %s; give folders of runs, or another --store", store))
		}
		return found, nil
	}
	for _, dir := range dirs {
		dir = runDir(store, dir)
		i, err := runs.Open(dir)
		if err == nil && (i.Stage != runs.Finished || i.Score == nil || i.LearningRate == nil) {
			err = fmt.Errorf("%s: its state is %s; compare finished runs", dir, stateOf(i))
		}
		if err != nil {
			return nil, coded(codeInput, err)
		}
		found = append(found, i)
	}
	return found, nil
}

// plotTrials draws the trials of runs.
func plotTrials(ctx context.Context, g *global, found []runs.Info, path string) error {
	place, err := reservePlot(path)
	if err != nil {
		return err
	}
	files, err := draw(ctx, place, func() (figure.Figure, error) { return trialsFigure(found) })
	if err != nil {
		place.Discard()
		return err
	}
	if _, err := place.Write(files); err != nil {
		return coded(codeInput, err)
	}
	g.console().Log().Warnf("%s shows trials, which no guarantee covers: don't publish it", path)
	return nil
}

func trialsFigure(found []runs.Info) (figure.Figure, error) {
	var drawn []figure.RunScores
	for _, i := range found {
		r := figure.RunScores{Name: i.Name, Final: figure.Trial{LearningRate: *i.LearningRate, Score: i.Score.Value}, Winner: -1}
		if i.Method != "" {
			trials, err := readTrials(i.Dir)
			if err != nil {
				return nil, fmt.Errorf("the plot needs the private part of each run: %w", err)
			}
			for k, t := range trials.Trials {
				if t.Score == nil {
					continue
				}
				if k == trials.Best {
					r.Winner = len(r.Trials)
				}
				r.Trials = append(r.Trials, figure.Trial{LearningRate: t.LearningRate, Score: *t.Score})
			}
		}
		drawn = append(drawn, r)
	}
	return figure.NewScores(found[0].Score.Metric, drawn)
}
