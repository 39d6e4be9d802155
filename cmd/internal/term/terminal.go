package term

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sirupsen/logrus"

	"github.com/dptrain/dptrain/cmd/internal/ui"
	"github.com/dptrain/dptrain/datasets/table"
	"github.com/dptrain/dptrain/internal/show"
)

// Terminal holds the flags of the root command and the outputs, for all commands.
type Terminal struct {
	JSON, Quiet, Verbose bool

	Out    *Output   // results
	Err    io.Writer // log, progress and errors
	Screen ui.Screen // what Err can show

	console *ui.Console // nil until there is need of one
}

// Console returns the one console of standard error. Call it once the flags are read.
func (t *Terminal) Console() *ui.Console {
	if t.console != nil {
		return t.console
	}
	level := logrus.InfoLevel
	switch {
	case t.Quiet:
		level = logrus.WarnLevel
	case t.Verbose:
		level = logrus.DebugLevel
	}
	t.console = ui.NewOn(t.Err, t.Screen, level)
	return t.console
}

// Print writes a result to standard output: as JSON with --json, else as text writes it.
func (t *Terminal) Print(result any, text func(io.Writer)) error {
	if !t.JSON {
		return t.Text(text)
	}
	enc := json.NewEncoder(t.Out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(result); err != nil {
		return Inputf("print result: %w", err)
	}
	return nil
}

// Text writes a result to standard output as text.
func (t *Terminal) Text(write func(io.Writer)) error {
	write(t.Out)
	return t.Out.Failure()
}

// Table prints a result as JSON, CSV or a table with a header.
func (t *Terminal) Table(result any, table [][]string, asCSV bool) error {
	if t.JSON && asCSV {
		return Usagef("--json and --csv: give one")
	}
	if asCSV {
		if err := csv.NewWriter(t.Out).WriteAll(table); err != nil {
			return Inputf("print result: %w", err)
		}
		return nil
	}
	return t.Print(result, func(w io.Writer) { Columns(w, table...) })
}

// Fail writes an error of a command line to standard error: with --json as an object.
func (t *Terminal) Fail(err error, code int, args []string) {
	asJSON := t.JSON || asksForJSON(args)
	text := strings.ReplaceAll(err.Error(), "\n", "; ")           // one line for each of joined errors
	text += cited(err, t.Verbose || t.Screen.Terminal && !asJSON) // JSON is made to be kept
	if !asJSON {
		fmt.Fprintln(t.Err, "dptrain:", show.Printable(text))
		return
	}
	enc := json.NewEncoder(t.Err)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(struct { // there is no other place for an error
		Error string `json:"error"`
		Code  int    `json:"exit_code"`
	}{text, code})
}

// cited returns the cells of private rows that an error cites, if they are to be shown, or else how to see them.
func cited(err error, shown bool) string {
	var rows *table.Error
	switch {
	case !errors.As(err, &rows) || rows.Private == "":
		return ""
	case shown:
		return "; " + show.Printable(rows.Private)
	}
	return "; --verbose shows what the file has there, which is private"
}

// asksForJSON reports whether a command line has --json. The flag parser stops at the first wrong flag, and arguments
// behind it count too.
func asksForJSON(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.Contains(args, "--json") || slices.Contains(args, "--json=true")
}
