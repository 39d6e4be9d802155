package flags

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/cmd/internal/runs/ledger"
)

// StoreVariable names the folder of runs, for all commands.
const StoreVariable = "DPTRAIN_STORE"

// Store is the flag of the folder of runs, in which the ledger is.
type Store struct{ Given string }

// Add gives a command the flag.
func (s *Store) Add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.Given, "store", "", "`folder` of runs and of their ledger; without it $"+StoreVariable+", or else runs")
	_ = cmd.MarkFlagDirname("store") // it fails for unknown flags only
}

// Run returns the folder of a run that is given by its folder or, as "dptrain runs list" shows it, by its name in the
// store.
func (s Store) Run(run string) string {
	if _, err := os.Stat(run); err == nil || run != filepath.Base(run) {
		return run
	}
	if dir := filepath.Join(s.Dir(), run); isDir(dir) {
		return dir
	}
	return run
}

// WithoutLedger leaves out the files of a ledger, which a pattern such as runs/* names beside the runs.
func WithoutLedger(args []string) []string {
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

// Dir returns the folder of runs: the given one, that of the environment, or runs.
func (s Store) Dir() string { return cmp.Or(s.Given, os.Getenv(StoreVariable), "runs") }
