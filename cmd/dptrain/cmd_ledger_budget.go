package main

import (
	"context"
	"io"
	"math"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/cmd/internal/flags"
	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/runs/ledger"
	"github.com/dptrain/dptrain/cmd/internal/term"
	"github.com/dptrain/dptrain/internal/show"
)

// usualDelta is the delta of a budget for data of which nothing was released yet.
const usualDelta = 1e-5

// budgetOptions are the standing budget to set.
type budgetOptions struct {
	store          flags.Store
	epsilon, delta float64
	remove         bool
}

func newLedgerBudgetCommand(g *global) *cobra.Command {
	var opts budgetOptions
	cmd := &cobra.Command{
		Use:   "budget DATA",
		Short: "Set or remove the standing budget of a data set",
		Long: `Set the standing budget of a data set: what all its runs may cost together.

From then on, a run that would make the epsilon of everything released of DATA
exceed --epsilon at --delta is refused before it trains, with exit code 8. So is
a run without any guarantee. --dry-run says so too, with the same exit code. The budget takes the place of an earlier one for all
data that count as the same. It may be below what is spent already; then it refuses every run.

What is left is the budget less what is spent. A run whose own epsilon is larger
may fit, since releases compose to less than the sum of their epsilons.

Runs of data that count as the same are under the budget too: see "dptrain ledger
--help". A budget is no guarantee by itself: it stops runs in this folder of runs
alone, and whoever can write there can remove it.

` + term.ExitCodes,
		Example: `  dptrain ledger budget census.csv --epsilon 8 --delta 1e-6
  dptrain ledger budget mnist --remove`,
		Args:              term.Takes(1, 1, "one data set or file"),
		ValidArgsFunction: cobra.FixedCompletions(datasetNames(), cobra.ShellCompDirectiveDefault),
		RunE: func(cmd *cobra.Command, args []string) error {
			given := func(name string) bool { return cmd.Flags().Changed(name) }
			switch {
			case opts.remove && (given("epsilon") || given("delta")):
				return term.Usagef("--remove takes neither --epsilon nor --delta")
			case !opts.remove && !given("epsilon"):
				return term.Usagef("give --epsilon, what all runs may cost together, or --remove")
			case given("epsilon") && !(opts.epsilon > 0 && !math.IsInf(opts.epsilon, 1)):
				return term.Usagef("--epsilon: must be a finite number above 0, got %v", opts.epsilon)
			case given("delta") && !(opts.delta > 0 && opts.delta < 1):
				return term.Usagef("--delta: must lie strictly between 0 and 1, got %v", opts.delta)
			}
			return runLedgerBudget(cmd.Context(), g, opts, args[0])
		},
	}
	opts.store.Add(cmd)
	fs := cmd.Flags()
	fs.Float64Var(&opts.epsilon, "epsilon", 0, "largest epsilon of all runs together")
	fs.Float64Var(&opts.delta, "delta", 0, "delta of the budget; without it the smallest of the runs so far, or else 1e-05")
	fs.BoolVar(&opts.remove, "remove", false, "remove the standing budget")
	return cmd
}

func runLedgerBudget(ctx context.Context, g *global, opts budgetOptions, name string) error {
	l, err := ledger.Open(opts.store.Dir())
	if err != nil {
		return err
	}
	account, err := term.Await(ctx, "changing the ledger", func() (a ledger.Account, err error) {
		data, err := resolveData(l, name)
		if err != nil {
			return a, err
		}
		if opts.remove {
			removed, err := l.RemoveBudget(ctx, data)
			if err != nil {
				return a, err
			}
			if !removed {
				return a, term.Inputf("%s has no standing budget", name)
			}
		} else if err := opts.set(ctx, l, data); err != nil {
			return a, err
		}
		if a, err = l.Account(data); len(a.Data) == 0 {
			a.Data = []ledger.Data{data}
		}
		return a, err
	})
	if err != nil {
		return err
	}
	results := newLedgerResults([]ledger.Account{account})
	if b := results[0].Budget; b != nil {
		if b.Left == 0 {
			g.Console().Log().Warnf("%s: epsilon %s is spent already, so this budget refuses every run from now on", show.Printable(name), spentText(b.Spent))
		}
		if rows := results[0].Rows; rows > 0 && b.Delta >= 1/float64(rows) {
			g.Console().Log().Warnf("delta %v is not below 1/%s, so publishing some rows as they are would satisfy this budget", b.Delta, release.Grouped(rows))
		}
	}
	return g.Print(ledgerResult{Ledger: l.Path(), Data: results}, func(w io.Writer) { printLedger(w, l.Path(), results) })
}

func (o budgetOptions) set(ctx context.Context, l *ledger.Ledger, data ledger.Data) error {
	delta := o.delta
	if delta == 0 {
		delta = usualDelta
		so, err := l.Account(data)
		if err != nil {
			return err
		}
		for i, r := range so.Releases {
			if !r.Void && (i == 0 || r.Delta < delta) {
				delta = r.Delta
			}
		}
	}
	return l.SetBudget(ctx, data, o.epsilon, delta)
}
