package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/cuda"
	"github.com/dptrain/dptrain/datasets"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/experiment"
	"github.com/dptrain/dptrain/train"
)

func TestExitCodes(t *testing.T) {
	for want, err := range map[int]error{
		codeInternal: errors.New("x"),
		codeUsage:    &train.SettingError{Setting: "a"},
		codeInput:    &train.DataError{},
		codeNetwork:  datasets.ErrUnavailable,
		codeBudget:   accountant.ErrInfeasible,
		codeDiverged: train.ErrDiverged,
		codeDevice:   fmt.Errorf("every trial failed: %w", engine.RunErrors{nil, fmt.Errorf("step 3: %w", &cuda.DeviceError{Err: errors.New("x")})}),
	} {
		if got := exitCode(err); got != want {
			t.Errorf("%v: code %d, want %d", err, got, want)
		}
	}
}

// The kinds of errors of package experiment have codes, wherever they are wrapped.
func TestExitCodesOfKinds(t *testing.T) {
	for kind, want := range map[experiment.Kind]int{experiment.Usage: codeUsage, experiment.Input: codeInput, experiment.Budget: codeBudget} {
		err := fmt.Errorf("resolve: %w", &experiment.Error{Kind: kind, Err: errors.New("x")})
		if got := exitCode(err); got != want || err.Error() != "resolve: x" {
			t.Errorf("%v: code %d, want %d", err, got, want)
		}
	}
}

func TestImpossibleBudgets(t *testing.T) {
	for flags, want := range map[string]int{
		"--epsilon 0.001 --accounting paper": codeBudget,
		"--noise-multiplier 1e-9":            codeBudget,
		"--epochs 1e-6":                      codeUsage,
	} {
		args := append([]string{"tune", "--dry-run"}, strings.Fields(flags)...)
		if code := execute(t.Context(), args, io.Discard, io.Discard, false); code != want {
			t.Errorf("%s: exit code %d, want %d", flags, code, want)
		}
	}
}
