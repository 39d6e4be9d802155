package main

import (
	"errors"

	"github.com/dptrain/dptrain/internal/ledger"
)

// record records the release in the ledger before anything is trained, and shows what all releases of the data cost
// together. The line goes to standard error: which releases count depends on private rows.
func (r *run) record() error {
	l, err := ledger.Open(r.store)
	if err != nil {
		return coded(codeInput, err)
	}
	account, err := await(r.ctx, "accounting for all releases of the data", func() (ledger.Account, error) {
		return l.Record(r.ctx, r.plan.Release(r.folder))
	})
	var over *ledger.BudgetError
	switch {
	case errors.As(err, &over) || errors.Is(err, errInterrupted):
		return err
	case err != nil:
		return coded(codeInput, err)
	}
	r.console.Log().Info("budget   " + account.Line(r.plan.DataName()))
	return nil
}
