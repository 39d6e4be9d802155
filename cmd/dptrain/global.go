package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/cmd/internal/ui"
)

// global holds the flags of the root command and the outputs, for all commands.
type global struct {
	json, quiet, verbose bool
	logFormat            string

	stop     func(context.Context) context.Context // watches for signals; nil doesn't
	gpus     gpus
	stdout   *checkedWriter
	stderr   io.Writer
	terminal bool      // stderr is a terminal
	screen   ui.Screen // what stderr can show; of the zero Screen, terminal alone counts

	shared *ui.Console // nil until there is need of one
}

// The formats of the log on standard error.
const (
	logText = "text"
	logJSON = "json"
)

// console returns the one console of standard error. Call it once the flags are read.
func (g *global) console() *ui.Console {
	if g.shared != nil {
		return g.shared
	}
	level := logrus.InfoLevel
	switch {
	case g.quiet:
		level = logrus.WarnLevel
	case g.verbose:
		level = logrus.DebugLevel
	}
	screen := g.screen
	screen.Terminal = g.terminal
	g.shared = ui.NewOn(g.stderr, screen, level)
	if g.logFormat == logJSON {
		g.shared.AsJSON()
	}
	return g.shared
}

// print writes a result to standard output: as JSON with --json, else as text writes it.
func (g *global) print(result any, text func(io.Writer)) error {
	if !g.json {
		return g.text(text)
	}
	enc := json.NewEncoder(g.stdout)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(result); err != nil {
		return coded(codeInput, fmt.Errorf("print result: %w", err))
	}
	return nil
}

// text writes a result to standard output as text.
func (g *global) text(write func(io.Writer)) error {
	write(g.stdout)
	return g.stdout.failure()
}

// checkedWriter keeps its first error, so that results that a full disk cut short don't pass for complete ones.
type checkedWriter struct {
	to     io.Writer
	screen ui.Screen // what it can show
	err    error
}

// widthOf returns the width to which text on w is wrapped, or 0 if it isn't: what reads w may be a program.
func widthOf(w io.Writer) int {
	if o, ok := w.(*checkedWriter); ok {
		return o.screen.Width()
	}
	return 0
}

// aligned returns columns of text on w, as wide as w shows them.
func aligned(w io.Writer) *ui.Columns { return ui.NewColumns(w, widthOf(w)) }

// sentence writes a line of words.
func sentence(w io.Writer, text string) { fmt.Fprintln(w, ui.Wrap(text, widthOf(w), 0)) }

func (o *checkedWriter) Write(p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.to.Write(p)
	o.err = err
	return n, err
}

func (o *checkedWriter) failure() error {
	if o.err == nil {
		return nil
	}
	return coded(codeInput, fmt.Errorf("print result: %w", o.err))
}

// rows writes pairs of label and text in two columns.
func rows(w io.Writer, pairs ...[2]string) {
	var lines [][]string
	for _, p := range pairs {
		lines = append(lines, p[:])
	}
	columns(w, lines...)
}

// columns writes lines of cells in columns.
func columns(w io.Writer, lines ...[]string) {
	tw := aligned(w)
	for _, cells := range lines {
		for i, cell := range cells {
			cells[i] = cleaned(cell)
		}
		fmt.Fprintln(tw, strings.Join(cells, "\t"))
	}
	tw.Flush()
}

// group makes a command of subcommands return a usage error for an unknown one, in one line and with the name that was
// probably meant. Cobra itself prints several lines, or none below the root.
func group(cmd *cobra.Command) *cobra.Command {
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		return unknown("command", args[0], commandNames(cmd))
	}
	return cmd
}

// unknown returns the usage error for a name that isn't one of names.
func unknown(what, name string, names []string) error {
	if near := settings.Nearest(name, names); near != "" {
		return usagef("unknown %s %q; did you mean %s?", what, name, near)
	}
	return usagef("unknown %s %q; there are %s", what, name, strings.Join(names, ", "))
}

// takes returns the check of a command that takes the given numbers of arguments, which what describes.
func takes(low, high int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < low || len(args) > high {
			return usagef("%s wants %s, got %d arguments; see %[1]s --help", cmd.CommandPath(), what, len(args))
		}
		return nil
	}
}

// noArgs is cobra.NoArgs with a message of ours.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s takes no argument, got %q; see %[1]s --help", cmd.CommandPath(), args[0])
	}
	return nil
}
