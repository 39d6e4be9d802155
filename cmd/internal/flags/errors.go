package flags

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/cmd/internal/term"
)

// Error returns the usage error for an error of the flag parser. An unknown flag's names the one that was probably
// meant.
func Error(cmd *cobra.Command, err error) error {
	var missing *pflag.NotExistError
	if errors.As(err, &missing) {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near := settings.Nearest(missing.GetSpecifiedName(), names); near != "" {
			return term.Usagef("%w; did you mean --%s?", err, near)
		}
	}
	return term.Usagef("%w; see %s --help", err, cmd.CommandPath())
}

// CheckNumbers returns an error for a flag that is no finite number. The flag parser takes NaN and Inf for numbers.
func CheckNumbers(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch f.Value.Type() {
		case "float64", "float64Slice":
			for _, text := range strings.Split(strings.Trim(f.Value.String(), "[]"), ",") {
				switch strings.TrimLeft(text, "+-") {
				case "NaN", "Inf":
					err = term.Usagef("--%s: want a finite number, got %s", f.Name, text)
				}
			}
		}
	})
	return err
}
