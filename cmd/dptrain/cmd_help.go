package main

import (
	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/cmd/internal/term"
)

// newHelpCommand returns cobra's help command with an error for a command that doesn't exist: cobra's prints a line,
// and exits as if it had helped.
func newHelpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [command]",
		Short: "Help about any command",
		Long:  `Help about any command: "dptrain help tune" prints what "dptrain tune --help" does.`,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			about, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return term.CommandNames(about), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil {
				return term.Usagef("%w", err)
			}
			if len(rest) > 0 {
				return term.Unknown("command", rest[0], term.CommandNames(about))
			}
			about.InitDefaultHelpFlag() // which help lists too
			return about.Help()
		},
	}
}
