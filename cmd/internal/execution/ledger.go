package execution

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/cmd/internal/runs"
	"github.com/dptrain/dptrain/cmd/internal/runs/ledger"
	"github.com/dptrain/dptrain/cmd/internal/term"
	"github.com/dptrain/dptrain/internal/show"
)

// charging is the activity of a command that waits for the ledger.
const charging = "accounting for all releases of the data"

// budgetLine says what all releases of the data cost together. It goes to standard error alone: which releases count
// depends on private rows.
func budgetLine(a ledger.Account, p *experiment.Plan) string {
	return "budget   " + a.Line(p.DataName())
}

// record records the release in the ledger before anything is trained. It returns a line that says what all
// releases of the data cost together, and a warning or "".
func record(ctx context.Context, p *experiment.Plan, folder *runs.Run, o Options) (line, warning string, err error) {
	if err := identify(p, folder); err != nil {
		return "", "", err
	}
	l, err := ledger.Open(o.Store)
	if err != nil {
		return "", "", term.Input(err)
	}
	entry, err := p.Release(folder)
	if err != nil {
		return "", "", err
	}
	entry.Decision = o.Data
	account, err := l.Record(ctx, entry)
	switch {
	case errors.As(err, new(*ledger.BudgetError)) || ctx.Err() != nil:
		return "", "", err
	case err != nil:
		return "", "", term.Input(err)
	}
	line = budgetLine(account, p)
	if account.Spent.Releases+account.Spent.Void == 0 { // perhaps another store's ledger has some
		line += " (" + term.Relative(l.Path()) + ")"
	}
	return line, account.Near(), nil
}

// Unrecorded returns a warning of runs, of those found in a store, that its ledger doesn't have, or "": the ledger was
// removed, or the runs were brought from elsewhere.
func Unrecorded(l *ledger.Ledger, found []runs.Info) (warning string, err error) {
	releases, err := l.Releases()
	if err != nil {
		return "", err
	}
	known := map[string]bool{}
	for _, r := range releases {
		known[r.Run] = true
	}
	var names []string
	for _, i := range found {
		if i.Stage != runs.Planned && i.Record != nil && !known[i.Record.ID] {
			names = append(names, i.Name)
		}
	}
	const shown = 3
	if n := len(names); n > shown {
		names = append(names[:shown], fmt.Sprintf("%d more", n-shown))
	}
	if len(names) == 0 {
		return "", nil
	}
	return fmt.Sprintf("%s lacks runs of its folder, and what they cost isn't counted: %s; bring back the ledger that has them",
		l.Path(), show.Printable(strings.Join(names, ", "))), nil
}

// identify notes what run this is. The kept fingerprint says better what changed since the run began; should it be
// lost, the note still tells that something did.
func identify(p *experiment.Plan, folder *runs.Run) error {
	now, err := p.Identity(folder.Record.Program)
	if err != nil {
		return err
	}
	kept, err := folder.Load("fingerprint")
	if err != nil {
		return term.Input(err)
	}
	if before := folder.Record.Key; before != "" && before != now && kept == nil {
		return term.Inputf("the data or the settings changed since the run in %s began: go on with the same", folder.Dir())
	}
	if kept == nil {
		folder.Record.Key = now
	}
	return nil
}

// wouldMake returns what the release of a plan would make of all releases of its data, or "" if the ledger has none, a
// warning or "", and a [*ledger.BudgetError] if a standing budget refuses it.
func wouldMake(ctx context.Context, p *experiment.Plan, o Options) (line, warning string, err error) {
	account, err := term.Await(ctx, charging, func() (a ledger.Account, err error) {
		l, err := ledger.Open(o.Store)
		if err != nil {
			return a, err
		}
		if all, err := l.DataSets(); err != nil || len(all) == 0 {
			return a, err
		}
		entry, err := p.Release(nil)
		if err != nil {
			return a, err
		}
		entry.Decision = o.Data
		a, err = l.Account(entry.Data, entry)
		return a, term.Input(err)
	})
	if err != nil || len(account.Planned) == 0 { // nothing is recorded at all
		return "", "", err
	}
	return budgetLine(account, p), account.Near(), account.Refusal()
}
