package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/dptrain/dptrain/cmd/internal/runs"
	"github.com/dptrain/dptrain/cmd/internal/runs/ledger"
)

// A store may be moved, and a run in it that hasn't begun yet is in no ledger: its release must get into the one that
// was moved along, and be refused by the budgets there.
func TestAMovedStoreKeepsItsLedger(t *testing.T) {
	before := ledgerOf(t, gaussianRelease("1", ledger.Named("mnist", 60000), 3))
	run, err := runs.Create(filepath.Join(before, "run"), false, runs.Manifest{}, runs.Record{Store: before}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Release(); err != nil {
		t.Fatal(err)
	}
	resumed := func(store string) string {
		t.Helper()
		run, err := runs.Resume(filepath.Join(store, "run"))
		if err != nil {
			t.Fatal(err)
		}
		if err := run.Release(); err != nil {
			t.Fatal(err)
		}
		store, err = new(resumeOptions).storeOf(run)
		if err != nil {
			t.Fatal(err)
		}
		return store
	}
	if got := resumed(before); got != before {
		t.Errorf("in its place: %s, want %s", got, before)
	}
	moved := filepath.Join(t.TempDir(), "moved")
	if err := os.Rename(before, moved); err != nil {
		t.Fatal(err)
	}
	if got := resumed(moved); got != moved {
		t.Errorf("moved: %s, want %s", got, moved)
	}
	alone := t.TempDir()
	if err := os.Rename(filepath.Join(moved, "run"), filepath.Join(alone, "run")); err != nil {
		t.Fatal(err)
	}
	if got := resumed(alone); got != before {
		t.Errorf("moved out of its store: %s, want %s", got, before)
	}
}
