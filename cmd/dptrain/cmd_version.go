package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/cmd/internal/engines"
	"github.com/dptrain/dptrain/cmd/internal/term"
)

func newVersionCommand(g *global) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, its commit, and the engines that it was built with",
		Args:  term.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := engines.Current()
			return g.Print(v, func(w io.Writer) { fmt.Fprintln(w, v) })
		},
	}
}
