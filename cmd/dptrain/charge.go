package main

import (
	"context"
	"errors"

	"github.com/dptrain/dptrain/internal/experiment"
	"github.com/dptrain/dptrain/internal/ledger"
)

// charging is the activity of a command that waits for the ledger.
const charging = "accounting for all releases of the data"

// record records the release in the ledger before anything is trained, and shows what all releases of the data cost
// together. The line goes to standard error: which releases count depends on private rows.
func (r *run) record(f *follower) (err error) {
	if r.folder.Record.Key, err = r.plan.Identity(r.folder.Record.Program); err != nil {
		return err
	}
	l, err := ledger.Open(r.store)
	if err != nil {
		return coded(codeInput, err)
	}
	release, err := r.plan.Release(r.folder)
	if err != nil {
		return err
	}
	account, err := l.Record(r.ctx, release)
	var over *ledger.BudgetError
	switch {
	case errors.As(err, &over) || r.ctx.Err() != nil:
		return err
	case err != nil:
		return coded(codeInput, err)
	}
	f.Note("budget   " + account.Line(r.plan.DataName()))
	return nil
}

// showBudget shows what the release of a plan would make of all releases of its data, if the ledger has any. The error is
// a [*ledger.BudgetError] if a standing budget refuses it.
func (g *global) showBudget(ctx context.Context, p *experiment.Plan, store string) error {
	account, err := await(ctx, charging, func() (a ledger.Account, err error) {
		l, err := ledger.Open(store)
		if err != nil {
			return a, err
		}
		if all, err := l.DataSets(); err != nil || len(all) == 0 {
			return a, err
		}
		release, err := p.Release(nil)
		if err != nil {
			return a, err
		}
		return l.Account(release.Data, release)
	})
	if err != nil || len(account.Planned) == 0 { // nothing is recorded at all
		return err
	}
	g.console().Log().Info("budget   " + account.Line(p.DataName()))
	return account.Refusal()
}
