package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/cmd/internal/engines"
	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/cmd/internal/term"
	"github.com/dptrain/dptrain/cmd/internal/ui"
	"github.com/dptrain/dptrain/cuda"
	"github.com/dptrain/dptrain/internal/datasets"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/train"
)

// execute runs one command line and returns its exit code.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer, terminal bool) int {
	return newGlobal(engines.NVIDIA, &term.Output{To: stdout}, stderr, ui.Screen{Terminal: terminal}).execute(ctx, args)
}

func TestExitCodes(t *testing.T) {
	for want, err := range map[int]error{
		term.CodeInternal: errors.New("x"),
		term.CodeUsage:    &train.SettingError{Setting: "a"},
		term.CodeInput:    &train.DataError{},
		term.CodeNetwork:  datasets.ErrUnavailable,
		term.CodeBudget:   accountant.ErrInfeasible,
		term.CodeDiverged: train.ErrDiverged,
		term.CodeDevice:   fmt.Errorf("every trial failed: %w", engine.RunErrors{nil, fmt.Errorf("step 3: %w", &cuda.DeviceError{Err: errors.New("x")})}),
	} {
		if got := exitCode(err); got != want {
			t.Errorf("%v: code %d, want %d", err, got, want)
		}
	}
}

// The kinds of errors of package experiment have codes, wherever they are wrapped.
func TestExitCodesOfKinds(t *testing.T) {
	for kind, want := range map[experiment.Kind]int{experiment.Usage: term.CodeUsage, experiment.Input: term.CodeInput, experiment.Budget: term.CodeBudget} {
		err := fmt.Errorf("resolve: %w", &experiment.Error{Kind: kind, Err: errors.New("x")})
		if got := exitCode(err); got != want || err.Error() != "resolve: x" {
			t.Errorf("%v: code %d, want %d", err, got, want)
		}
	}
}

func TestImpossibleBudgets(t *testing.T) {
	for flags, want := range map[string]int{
		"--epsilon 0.001 --accounting paper": term.CodeBudget,
		"--noise-multiplier 1e-9":            term.CodeBudget,
		"--epochs 1e-6":                      term.CodeUsage,
	} {
		args := append([]string{"tune", "--dry-run"}, strings.Fields(flags)...)
		if code := execute(t.Context(), args, io.Discard, io.Discard, false); code != want {
			t.Errorf("%s: exit code %d, want %d", flags, code, want)
		}
	}
}

// With --json an error is one object, the last line of standard error, wherever the flag stands.
func TestErrorsAsJSON(t *testing.T) {
	for _, c := range []struct {
		args   string
		code   int
		fields []string
	}{
		{"tune --q 7 --json", term.CodeUsage, []string{"error", "exit_code"}},
		{"--json tune --epsilom 3", term.CodeUsage, []string{"error", "exit_code"}},
		{"tune --epsilom 3 --json", term.CodeUsage, []string{"error", "exit_code"}},
		{"tunee --json=true", term.CodeUsage, []string{"error", "exit_code"}},
		{"tune --epsilon 0.001 --accounting paper --json", term.CodeBudget, []string{"error", "exit_code"}},
	} {
		var stdout, stderr bytes.Buffer
		code := execute(t.Context(), strings.Fields(c.args), &stdout, &stderr, false)
		var got map[string]any
		lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
		if err := json.Unmarshal([]byte(lines[len(lines)-1]), &got); err != nil || len(lines) != 1 || stdout.Len() > 0 {
			t.Errorf("%s: %v in %s%s", c.args, err, stderr.String(), stdout.String())
			continue
		}
		if fields := slices.Sorted(maps.Keys(got)); !slices.Equal(fields, c.fields) || code != c.code || got["exit_code"] != float64(c.code) {
			t.Errorf("%s: exit code %d, %v", c.args, code, got)
		}
	}
}
