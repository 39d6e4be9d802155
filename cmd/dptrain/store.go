package main

import (
	"os"

	"github.com/spf13/cobra"
)

// storeVariable names the store of runs of those who give none.
const storeVariable = "DPTRAIN_STORE"

func storeFlag(cmd *cobra.Command, dst *string) {
	cmd.Flags().StringVar(dst, "store", "", "`folder` of runs and of their ledger (default $"+storeVariable+", or else runs)")
}

// storeDir returns the store for the value of --store.
func storeDir(given string) string {
	if given != "" {
		return given
	}
	if dir := os.Getenv(storeVariable); dir != "" {
		return dir
	}
	return "runs"
}
