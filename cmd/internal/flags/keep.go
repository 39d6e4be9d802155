package flags

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dptrain/dptrain/cmd/internal/term"
)

// Keep says how a run keeps its states.
type Keep struct{ Every time.Duration }

// Add gives a command the flag, with its default and its line of help.
func (k *Keep) Add(cmd *cobra.Command, usual time.Duration, usage string) {
	cmd.Flags().DurationVar(&k.Every, "save-every", usual, usage)
}

// Check checks the flag.
func (k Keep) Check() error {
	if k.Every < time.Millisecond {
		return term.Usagef("--save-every: want 1ms or more, got %v", k.Every)
	}
	return nil
}

// ShowDefault makes help show a list's default as flags take it.
func ShowDefault[T any](fs *pflag.FlagSet, name string, list []T) {
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i] = fmt.Sprint(v)
	}
	fs.Lookup(name).DefValue = strings.Join(texts, ",")
}
