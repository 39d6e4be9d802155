package flags

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/cmd/internal/term"
)

// Error returns the usage error for an error of the flag parser, in words of ours. An unknown flag's names the one
// that was probably meant.
func Error(cmd *cobra.Command, err error) error {
	var missing *pflag.NotExistError
	var valueless *pflag.ValueRequiredError
	var wrong *pflag.InvalidValueError
	var syntax *pflag.InvalidSyntaxError
	switch {
	case errors.As(err, &missing):
		name := "-" + missing.GetSpecifiedShortnames()
		if name == "-" {
			name = "--" + missing.GetSpecifiedName()
			var names []string
			cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
			if near := settings.Nearest(missing.GetSpecifiedName(), names); near != "" {
				return term.Usagef("unknown flag: %s; did you mean --%s?", name, near)
			}
		}
		return term.Usagef("unknown flag: %s; see %s --help", name, cmd.CommandPath())
	case errors.As(err, &valueless):
		return term.Usagef("--%s: no value; want %s behind it, see %s --help", valueless.GetFlag().Name, wantedBy(valueless.GetFlag()), cmd.CommandPath())
	case errors.As(err, &wrong):
		f := wrong.GetFlag()
		if _, ours := f.Value.(*once); ours {
			return term.Usagef("--%s: %w", f.Name, wrong.Unwrap())
		}
		return term.Usagef("--%s: want %s, got %q", f.Name, wantedBy(f), wrong.GetValue())
	case errors.As(err, &syntax):
		return term.Usagef("%q is no flag; see %s --help", syntax.GetSpecifiedFlag(), cmd.CommandPath())
	}
	return term.Usagef("%w; see %s --help", err, cmd.CommandPath())
}

// wantedBy says what a flag takes, as package settings does of settings.
func wantedBy(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "bool", "": // a setting without a type is a switch
		return "true or false"
	case "int":
		return "a whole number"
	case "uint64":
		return fmt.Sprintf("a whole number from 0 to %d", uint64(math.MaxUint64))
	case "float64", "float":
		return "a number"
	case "float64Slice":
		return "a list of numbers"
	case "stringSlice", "list":
		return "a list of names"
	}
	return "text"
}

// CheckNumbers returns an error for a flag that is no finite number. The flag parser takes NaN and Inf for numbers.
func CheckNumbers(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch f.Value.Type() {
		case "float64", "float64Slice":
			for _, text := range strings.Split(strings.Trim(f.Value.String(), "[]"), ",") {
				switch strings.TrimLeft(text, "+-") {
				case "NaN", "Inf":
					err = term.Usagef("--%s: want %s, got %s", f.Name, wantedBy(f), text)
				}
			}
		}
	})
	return err
}
