package main

import "github.com/spf13/cobra"

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
			return commandNames(about), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			about := cmd.Root()
			for _, name := range args {
				next := subcommand(about, name)
				if next == nil {
					return unknown("command", name, commandNames(about))
				}
				about = next
			}
			about.InitDefaultHelpFlag() // which help lists too
			return about.Help()
		},
	}
}

// subcommand returns a command's subcommand of a name, or nil.
func subcommand(cmd *cobra.Command, name string) *cobra.Command {
	for _, c := range cmd.Commands() {
		if c.Name() == name || c.HasAlias(name) {
			return c
		}
	}
	return nil
}

// commandNames returns the names of a command's subcommands.
func commandNames(cmd *cobra.Command) []string {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}
