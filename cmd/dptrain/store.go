package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/cmd/internal/runs/ledger"
)

// storeVariable names the folder of runs, for all commands.
const storeVariable = "DPTRAIN_STORE"

// storeFlag gives a command the flag of the folder of runs, in which the ledger is. Read the flag by [storeDir].
func storeFlag(cmd *cobra.Command, dst *string) {
	cmd.Flags().StringVar(dst, "store", "", "`folder` of runs and of their ledger; without it $"+storeVariable+", or else runs")
	_ = cmd.MarkFlagDirname("store") // it fails for unknown flags only
}

// runDir returns the folder of a run that is given by its folder or, as "dptrain runs list" shows it, by its name in
// the store.
func runDir(store, run string) string {
	if _, err := os.Stat(run); err == nil || run != filepath.Base(run) {
		return run
	}
	if dir := filepath.Join(store, run); isDir(dir) {
		return dir
	}
	return run
}

// withoutLedger leaves out the files of a ledger, which a pattern such as runs/* names beside the runs.
func withoutLedger(args []string) []string {
	stem := strings.TrimSuffix(ledger.FileName, filepath.Ext(ledger.FileName))
	return slices.DeleteFunc(slices.Clone(args), func(path string) bool {
		name := filepath.Base(path)
		return len(args) > 1 && strings.TrimSuffix(name, filepath.Ext(name)) == stem && !isDir(path)
	})
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// storeDir returns the folder of runs: the given one, that of the environment, or runs.
func storeDir(given string) string { return cmp.Or(given, os.Getenv(storeVariable), "runs") }

// create writes a new file.
func create(path string, contents []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if errors.Is(err, fs.ErrExist) {
		return coded(codeInput, fmt.Errorf("%s already exists; give another file, or remove it", path))
	}
	if err == nil {
		if _, err = f.Write(contents); err != nil {
			_ = os.Remove(path) // it isn't whole
		}
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return coded(codeInput, fmt.Errorf("write the result: %w", err))
	}
	return nil
}
