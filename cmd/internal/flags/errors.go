package flags

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/cmd/internal/term"
)

// Error returns the usage error for an error of the flag parser. An unknown flag's names the one that was probably
// meant.
func Error(cmd *cobra.Command, err error) error {
	if missing, ok := errors.AsType[*pflag.NotExistError](err); ok {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near := settings.Nearest(missing.GetSpecifiedName(), names); near != "" {
			return term.Usagef("%w; did you mean --%s?", err, near)
		}
	}
	return term.Usagef("%w; see %s --help", err, cmd.CommandPath())
}

// Once makes the flags of a command, and of those below it, that have one value refuse an empty one and another one
// after the first, of which the flag parser takes the last in silence, and those of numbers what isn't finite. Settings
// have checks of their own.
func Once(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		_, setting := f.Value.(*settingFlag)
		if !setting && slices.Contains([]string{"string", "int", "uint64", "float64", "float64Slice", "duration"}, f.Value.Type()) {
			f.DefValue = strings.TrimPrefix(f.DefValue, "0s") // or help shows it
			f.Value = &once{Value: f.Value}
		}
	})
	for _, c := range cmd.Commands() {
		Once(c)
	}
}

type once struct {
	pflag.Value
	given string
}

func (f *once) Set(value string) error {
	if value == "" {
		return errors.New("no value; give one, or leave it out")
	}
	if f.given != "" && f.given != value && f.Type() != "float64Slice" {
		return fmt.Errorf("%s is given as well; give one", f.given)
	}
	f.given = value
	if strings.HasPrefix(f.Type(), "float64") {
		for text := range strings.SplitSeq(value, ",") {
			if x, err := strconv.ParseFloat(text, 64); err == nil && x-x != 0 {
				return fmt.Errorf("want a finite number, got %s", text)
			}
		}
	}
	return f.Value.Set(value)
}
