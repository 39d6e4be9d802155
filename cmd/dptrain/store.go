package main

import (
	"cmp"
	"os"

	"github.com/spf13/cobra"
)

// storeVariable names the folder of runs, for all commands.
const storeVariable = "DPTRAIN_STORE"

// storeFlag gives a command the flag of the folder of runs, in which the ledger is. Read the flag by [storeDir].
func storeFlag(cmd *cobra.Command, dst *string) {
	cmd.Flags().StringVar(dst, "store", "", "`folder` of runs and of their ledger; without it $"+storeVariable+", or else runs")
	_ = cmd.MarkFlagDirname("store") // it fails for unknown flags only
}

// storeDir returns the folder of runs: the given one, that of the environment, or runs.
func storeDir(given string) string { return cmp.Or(given, os.Getenv(storeVariable), "runs") }
