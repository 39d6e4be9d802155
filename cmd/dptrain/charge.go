package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/dptrain/dptrain/internal/experiment"
	"github.com/dptrain/dptrain/internal/ledger"
)

// charging is the activity of a command that waits for the ledger.
const charging = "accounting for all releases of the data"

// record records the release in the ledger before anything is trained, and shows what all releases of the data cost
// together. The line goes to standard error: which releases count depends on private rows.
func (r *run) record(f *follower) (err error) {
	if err := r.identify(); err != nil {
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

// identify notes what run this is. The kept fingerprint says better what changed since the run began; should it be
// lost, the note still tells that something did.
func (r *run) identify() error {
	now, err := r.plan.Identity(r.folder.Record.Program)
	if err != nil {
		return err
	}
	kept, err := r.folder.Load("fingerprint")
	if err != nil {
		return coded(codeInput, err)
	}
	if before := r.folder.Record.Key; before != "" && before != now && kept == nil {
		return coded(codeInput, fmt.Errorf("the data or the settings changed since the run in %s began: go on with the same", r.folder.Dir()))
	}
	if kept == nil {
		r.folder.Record.Key = now
	}
	return nil
}

// showBudget shows what the release of a plan would make of all releases of its data, if the ledger has any.
func (g *global) showBudget(ctx context.Context, p *experiment.Plan, store string) error {
	line, err := await(ctx, charging, func() (string, error) {
		l, err := ledger.Open(store)
		if err != nil {
			return "", err
		}
		if all, err := l.DataSets(); err != nil || len(all) == 0 {
			return "", err
		}
		release, err := p.Release(nil)
		if err != nil {
			return "", err
		}
		account, err := l.Account(release.Data, release)
		return account.Line(p.DataName()), err
	})
	if line != "" && err == nil {
		g.console().Log().Info("budget   " + line)
	}
	return err
}
