package main

import (
	"context"
	"errors"
	"io/fs"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/cmd/internal/cluster"
	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/cmd/internal/page"
	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/reproduce/campaign"
	"github.com/dptrain/dptrain/cmd/internal/runs"
	"github.com/dptrain/dptrain/cmd/internal/runs/ledger"
	"github.com/dptrain/dptrain/cmd/internal/term"
	"github.com/dptrain/dptrain/cuda"
	"github.com/dptrain/dptrain/datasets/table"
	"github.com/dptrain/dptrain/internal/datasets"
	"github.com/dptrain/dptrain/train"
)

// codeOf has the exit code of each kind of error of package experiment.
var codeOf = map[experiment.Kind]int{experiment.Usage: term.CodeUsage, experiment.Input: term.CodeInput, experiment.Budget: term.CodeBudget}

// exitCode returns the exit code of an error: its own, or else the one of its type.
func exitCode(err error) int {
	var failed *experiment.Error
	code, given := term.CodeOf(err)
	switch {
	case errors.Is(err, context.Canceled):
		return term.CodeInterrupted
	case given:
		return code
	case errors.As(err, &failed):
		return codeOf[failed.Kind]
	case is[*ledger.BudgetError](err):
		return term.CodeStanding
	case is[*cuda.DeviceError](err), errors.Is(err, cuda.ErrNoDevice):
		return term.CodeDevice
	case errors.Is(err, train.ErrDiverged):
		return term.CodeDiverged
	case errors.Is(err, accountant.ErrInfeasible):
		return term.CodeBudget
	case is[*train.SettingError](err), is[*datasets.UnknownError](err), errors.Is(err, accountant.ErrInvalid):
		return term.CodeUsage
	case errors.Is(err, datasets.ErrUnavailable), errors.Is(err, cluster.ErrUnreachable):
		return term.CodeNetwork
	case is[*train.KeepError](err), errors.Is(err, train.ErrOtherRun), errors.Is(err, train.ErrState),
		is[*train.DataError](err), is[*table.Error](err), is[*ledger.FileError](err), errors.Is(err, release.ErrNoModel), errors.Is(err, datasets.ErrInvalid), is[*fs.PathError](err),
		errors.Is(err, runs.ErrNoRun), errors.Is(err, page.ErrNoRun), errors.Is(err, campaign.ErrBusy), errors.Is(err, campaign.ErrOther), errors.Is(err, campaign.ErrNone),
		errors.Is(err, cluster.ErrRefused), errors.Is(err, cluster.ErrLed):
		return term.CodeInput
	}
	return term.CodeInternal
}

// is reports whether an error wraps one of type T.
func is[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}
