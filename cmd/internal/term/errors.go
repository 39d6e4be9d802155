package term

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/cmd/internal/settings"
)

// The exit codes: see [ExitCodes].
const (
	CodeOK          = 0
	CodeInternal    = 1
	CodeUsage       = 2
	CodeInput       = 3
	CodeBudget      = 4
	CodeNetwork     = 5
	CodeDiverged    = 6
	CodeDevice      = 7
	CodeStanding    = 8
	CodeInterrupted = 130
)

// ExitCodes explains the exit codes in help.
const ExitCodes = `Exit codes:
  0    all went well
  1    something failed that shouldn't
  2    usage: an unknown command, flag, key or name, or a value that makes no sense
  3    input or output: data that are missing or wrong, a file or directory that
       can't be read or written, an output directory that exists
  4    budget: no noise meets it
  5    network: a download failed, or a cluster's server can't be reached
  6    training diverged: no model came out, and the budget counts as spent
  7    device: a GPU failed, or there is none that can be used and the settings
       ask for one
  8    standing budget: it refuses the run; see dptrain ledger --help
  130  interrupted`

// codedError is an error with its exit code.
type codedError struct {
	code int
	err  error
}

func (e *codedError) Error() string { return e.err.Error() }
func (e *codedError) Unwrap() error { return e.err }

// Coded returns err with an exit code, or nil for nil.
func Coded(code int, err error) error {
	if err == nil {
		return nil
	}
	return &codedError{code, err}
}

// CodeOf returns the exit code that [Coded] gave an error, and whether it has one.
func CodeOf(err error) (code int, ok bool) {
	if given, ok := errors.AsType[*codedError](err); ok {
		return given.code, true
	}
	return CodeInternal, false
}

// Usage returns err as an error of the command line, or nil for nil.
func Usage(err error) error { return Coded(CodeUsage, err) }

// Usagef returns an error of the command line.
func Usagef(format string, args ...any) error { return Usage(fmt.Errorf(format, args...)) }

// Input returns err as an error of data or files, or nil for nil.
func Input(err error) error { return Coded(CodeInput, err) }

// Inputf returns an error of data or files.
func Inputf(format string, args ...any) error { return Input(fmt.Errorf(format, args...)) }

// Unknown returns the usage error for a name that isn't one of names.
func Unknown(what, name string, names []string) error {
	return Usage(settings.Unknown(what, name, names))
}

// Group makes a command of subcommands return a usage error for an unknown one, in one line and with the name that was
// probably meant. Cobra itself prints several lines, or none below the root.
func Group(cmd *cobra.Command) *cobra.Command {
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		var names []string
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				names = append(names, c.Name())
			}
		}
		return Unknown("command", args[0], names)
	}
	return cmd
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
