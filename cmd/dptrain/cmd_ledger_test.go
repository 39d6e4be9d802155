package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/cmd/internal/runs/ledger"
	"github.com/dptrain/dptrain/cmd/internal/term"
)

// ledgerOf records releases, by name, in a new store.
func ledgerOf(t *testing.T, all ...ledger.Release) (store string) {
	t.Helper()
	store = t.TempDir()
	l, err := ledger.Open(store)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		if _, err := l.Record(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	return store
}

// printed runs a command that must succeed.
func printed(t *testing.T, args ...string) string {
	t.Helper()
	var out, complaints bytes.Buffer
	if code := execute(t.Context(), args, &out, &complaints, false); code != term.CodeOK {
		t.Fatalf("%v: exit code %d, %s", args, code, complaints.String())
	}
	return out.String()
}

func gaussianRelease(run string, d ledger.Data, noise float64) ledger.Release {
	return ledger.Release{
		Run: run, Path: "/runs/" + run, Command: "tune", Data: d, Event: accountant.Gaussian{NoiseMultiplier: noise},
		Epsilon: 1.25, Delta: 1e-5, Began: time.Date(2026, 11, 23, 13, 5, 0, 0, time.UTC), Version: "v1",
	}
}

// Text, JSON and CSV say the same.
func TestLedgerOutput(t *testing.T) {
	mnist := ledger.Named("mnist", 60000)
	void := gaussianRelease("mnist-3", mnist, 1)
	void.Void = true
	store := ledgerOf(t, gaussianRelease("mnist-1", mnist, 4), gaussianRelease("mnist-2", mnist, 4), void, gaussianRelease("imdb-1", ledger.Named("imdb", 25000), 4))

	text := printed(t, "ledger", "--store", store)
	for _, want := range []string{
		"data          mnist, 60,000 rows\n", "together      2 releases: epsilon ", "sum           epsilon 2.5 at delta 2e-05, by simple addition\n",
		"no guarantee  1 release; no epsilon covers what it revealed\n", "bound         privacy-loss distributions: Gaussian mechanism\n",
		"2026-11-23 13:05:00  mnist-1  tune     mnist  1.25     1e-05\n", "2026-11-23 13:05:00  mnist-3  tune     mnist  none     no guarantee\n", "data      imdb, 25,000 rows\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	var result ledgerResult
	if err := json.Unmarshal([]byte(printed(t, "ledger", "--store", store, "--json")), &result); err != nil {
		t.Fatal(err)
	}
	first := result.Data[0]
	g, err := accountant.Epsilon(accountant.Gaussian{NoiseMultiplier: 4 / math.Sqrt2}, 1e-5, accountant.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(first.Together.Epsilon/g.Epsilon-1) > 1e-3 || first.Together.Void != 1 || len(first.Releases) != 3 || first.Releases[2].Guarantee || len(result.Data) != 2 {
		t.Errorf("%+v, want epsilon %v", result, g.Epsilon)
	}
	if one := printed(t, "ledger", "imdb", "--store", store); strings.Contains(one, "mnist") || !strings.Contains(one, "together  1 release: epsilon ") {
		t.Errorf("%s", one)
	}
}

// Names of files and of runs can't steer a terminal, or break a table.
func TestLedgerOfHostileNames(t *testing.T) {
	store := ledgerOf(t, gaussianRelease("a\x1b[2J\n\tb", ledger.Named("=evil\x1b[31m\n\"x\",", 1), 4))
	if text := printed(t, "ledger", "--store", store); strings.Contains(text, "\x1b") || strings.Contains(text, "\n\tb") {
		t.Errorf("%q", text)
	}
}

func TestBudgetBelowWhatIsSpentIsWarnedOf(t *testing.T) {
	store := ledgerOf(t, gaussianRelease("1", ledger.Named("mnist", 60000), 1))
	var out, complaints bytes.Buffer
	if code := execute(t.Context(), []string{"ledger", "budget", "mnist", "--epsilon", "0.5", "--store", store}, &out, &complaints, false); code != term.CodeOK {
		t.Fatalf("exit code %d, %s", code, complaints.String())
	}
	if !strings.Contains(complaints.String(), "is spent already, so this budget refuses every run from now on") || !strings.Contains(out.String(), "nothing is left, every run is refused") {
		t.Errorf("%s%s", complaints.String(), out.String())
	}
}

// A dry run says what the run would: that it is refused.
func TestDryRunIsRefusedByTheBudget(t *testing.T) {
	store := ledgerOf(t, gaussianRelease("1", ledger.Named("mnist", 60000), 4))
	args := strings.Fields("train --dataset mnist --accounting paper --noise-multiplier 2 --dry-run --store " + store)
	if text := printed(t, args...); !strings.Contains(text, "noise    multiplier 2") {
		t.Errorf("without a budget: %s", text)
	}
	printed(t, "ledger", "budget", "mnist", "--epsilon", "1.5", "--store", store)
	var out, complaints bytes.Buffer
	code := execute(t.Context(), args, &out, &complaints, false)
	if code != term.CodeStanding || !strings.Contains(complaints.String(), "the standing budget of epsilon 1.5 at delta 1e-05 refuses this run") {
		t.Errorf("exit code %d, %s", code, complaints.String())
	}
	if !strings.Contains(out.String(), "noise    multiplier 2") {
		t.Errorf("no plan: %s", out.String())
	}
}

// A run has the name in the ledger that "dptrain runs list" shows.
func TestLedgerNamesRuns(t *testing.T) {
	r := gaussianRelease("0123456789abcdef", ledger.Named("mnist", 60000), 4)
	r.Path = "/runs/mnist-20261123-130500"
	if text := printed(t, "ledger", "--store", ledgerOf(t, r)); !strings.Contains(text, "  mnist-20261123-130500  ") || strings.Contains(text, r.Run) {
		t.Error(text)
	}
}

func TestLedgerExitCodes(t *testing.T) {
	l, err := ledger.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := ledger.Named("mnist", 60000)
	if err := l.SetBudget(t.Context(), d, 0.1, 1e-5); err != nil {
		t.Fatal(err)
	}
	_, err = l.Record(t.Context(), gaussianRelease("1", d, 1))
	if got := exitCode(fmt.Errorf("tune: %w", err)); got != term.CodeStanding {
		t.Errorf("%v: exit code %d, want %d", err, got, term.CodeStanding)
	}
	if got := exitCode(&ledger.FileError{Path: "x", Problem: "y", Err: errors.New("z")}); got != term.CodeInput {
		t.Errorf("exit code %d, want %d", got, term.CodeInput)
	}
}

// Two different files of one name are told apart by their paths alone.
func TestAmbiguousNames(t *testing.T) {
	dir := t.TempDir()
	var all []ledger.Release
	for i, contents := range []string{"a,b\n1,2\n", "a,b\n3,4\n"} {
		path := filepath.Join(dir, fmt.Sprint(i), "x.csv")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(contents), 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := sketched(path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, gaussianRelease(fmt.Sprint(i), d, 4))
	}
	store := ledgerOf(t, all...)
	var out, complaints bytes.Buffer
	if code := execute(t.Context(), []string{"ledger", "x.csv", "--store", store}, &out, &complaints, false); code != term.CodeInput || !strings.Contains(complaints.String(), `2 different data sets are recorded as "x.csv"`) {
		t.Errorf("exit code %d, %s", code, complaints.String())
	}
	if text := printed(t, "ledger", filepath.Join(dir, "1", "x.csv"), "--store", store); !strings.Contains(text, "x.csv, 1 rows") {
		t.Errorf("%s", text)
	}
}

// The printed rest of a budget is never negative, and never above the true one.
func TestWhatIsLeftOfLargeBudgets(t *testing.T) {
	for v, want := range map[float64]float64{0: 0, 0.00019: 0.0001, 1.23456: 1.2345, 1e15: 1e15, 1e18: 1e18, 1e308: 1e308} {
		if got := floored(v); got != want {
			t.Errorf("%v of %v, want %v", got, v, want)
		}
	}
}
