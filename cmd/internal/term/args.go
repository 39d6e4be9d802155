package term

import "github.com/spf13/cobra"

// Group makes a command of subcommands return a usage error for an unknown one, in one line and with the name that was
// probably meant. Cobra itself prints several lines, or none below the root.
func Group(cmd *cobra.Command) *cobra.Command {
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		return Unknown("command", args[0], CommandNames(cmd))
	}
	return cmd
}

// CommandNames returns the names of a command's subcommands.
func CommandNames(cmd *cobra.Command) []string {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

// Takes returns the check of a command that takes the given numbers of arguments, which what describes.
func Takes(low, high int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < low || len(args) > high {
			return Usagef("%s wants %s, got %d arguments; see %[1]s --help", cmd.CommandPath(), what, len(args))
		}
		return nil
	}
}

// NoArgs is cobra.NoArgs with a message of ours.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return Usagef("%s takes no argument, got %q; see %[1]s --help", cmd.CommandPath(), args[0])
	}
	return nil
}
