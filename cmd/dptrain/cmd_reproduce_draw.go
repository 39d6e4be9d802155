package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/cmd/internal/reproduce/campaign"
	"github.com/dptrain/dptrain/cmd/internal/reproduce/paper"
)

func newReproduceDrawCommand(g *global) *cobra.Command {
	opts := reproduceOptions{selection: paper.PaperSelection()}
	cmd := &cobra.Command{
		Use:   "draw [NAME]...",
		Short: "Draw figures and tables from the runs that are there",
		Long: `Draw a campaign's figures, tables and page from the runs that are there, and train
nothing. It can be asked while another process works on the campaign. Without
flags it draws what the last "reproduce" asked for.`,
		Example: `  dptrain reproduce draw
  dptrain reproduce draw figure_tune_lr_dp_sgd --repetitions 20`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, names []string) error {
			opts.given = func(flag string) bool { return cmd.Flags().Changed(flag) }
			store, err := campaign.Look(opts.out)
			if err != nil {
				return campaignError(err)
			}
			if len(names) == 0 {
				names = store.Description.Figures
			}
			chosen, err := figures(names)
			if err != nil {
				return err
			}
			opts.keep.Every = saveCampaign
			if err := opts.asBefore(store); err != nil {
				return campaignError(err)
			}
			if err := opts.check(); err != nil {
				return err
			}
			drawn, err := g.draw(cmd.Context(), store, &opts, chosen)
			if err != nil {
				return campaignError(err)
			}
			if drawn.Runs > 0 && drawn.Finished == 0 {
				g.Console().Log().Warnf("none of the %d runs that the page shows is there: other flags may choose those that are", drawn.Runs)
			}
			return g.Print(drawn, drawn.print)
		},
		ValidArgs: labels(paper.Figures()),
	}
	campaignFlag(cmd, &opts.out)
	opts.addSelection(cmd)
	for _, name := range []string{"datasets", "epsilons", "accounting", "repetitions"} {
		f := cmd.Flags().Lookup(name)
		f.Usage, _, _ = strings.Cut(f.Usage, "; with --quick") // the campaign has its size
		f.DefValue = "those of the campaign"
	}
	return cmd
}

// asBefore takes what flags don't give from the tasks of a campaign.
func (o *reproduceOptions) asBefore(store *campaign.Store) error {
	tasks, err := store.Jobs()
	if err != nil || len(tasks) == 0 {
		return err
	}
	var s paper.Selection
	for _, t := range tasks {
		s.Datasets, s.Epsilons = append(s.Datasets, t.Dataset), append(s.Epsilons, t.Epsilon)
		s.Accountings, s.Repetitions = append(s.Accountings, t.Accounting), max(s.Repetitions, t.Repetition)
	}
	for flag, take := range map[string]func(){
		"datasets":    func() { o.selection.Datasets = distinct(s.Datasets) },
		"epsilons":    func() { o.selection.Epsilons = slices.Compact(slices.Sorted(slices.Values(s.Epsilons))) },
		"accounting":  func() { o.selection.Accountings = distinct(s.Accountings) },
		"repetitions": func() { o.selection.Repetitions = s.Repetitions },
	} {
		if !o.given(flag) {
			take()
		}
	}
	return nil
}
