package term

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/dptrain/dptrain/cmd/internal/ui"
	"github.com/dptrain/dptrain/datasets/table"
)

// Terminal holds the flags of the root command and the outputs, for all commands.
type Terminal struct {
	JSON, Quiet, Verbose bool
	LogFormat            string

	Out    *Output   // results
	Err    io.Writer // log, progress and errors
	Screen ui.Screen // what Err can show

	console *ui.Console // nil until there is need of one
}

// The formats of the log on standard error.
const (
	LogText = "text"
	LogJSON = "json"
)

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
	if t.LogFormat == LogJSON {
		t.console.AsJSON()
	}
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

// failure is an error as JSON, on standard error. Its first fields are a log entry's, with --log-format json.
type failure struct {
	Time    string `json:"time,omitempty"`
	Level   string `json:"level,omitempty"`
	Message string `json:"message,omitempty"`
	Error   string `json:"error,omitempty"`
	Code    int    `json:"exit_code"`
}

// Fail writes an error of a command line to standard error: with --json as an object.
func (t *Terminal) Fail(err error, code int, args []string) {
	asJSON := t.JSON || asksFor(args, "--json", "--json=true")
	logged := t.LogFormat == LogJSON || asksFor(args, "--log-format=json", "--log-format\njson")
	text := strings.ReplaceAll(err.Error(), "\n", "; ") // one line for each of joined errors
	text += cited(err, ui.Cells.Shown(t.Verbose, t.Screen.Terminal, asJSON || logged))
	if !asJSON && !logged {
		fmt.Fprintln(t.Screen.Writer(t.Err), "dptrain:", Clean(text))
		return
	}
	f := failure{Code: code}
	if asJSON {
		f.Error = text
	}
	if logged {
		f.Time, f.Level, f.Message = time.Now().Format(time.RFC3339), logrus.ErrorLevel.String(), text
	}
	enc := json.NewEncoder(t.Err)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(f) // there is no other place for an error
}

// cited returns the cells of private rows that an error cites, if they are to be shown, or else how to see them.
func cited(err error, shown bool) string {
	var rows *table.Error
	switch {
	case !errors.As(err, &rows) || rows.Private == "":
		return ""
	case shown:
		return "; " + Clean(rows.Private)
	}
	return "; --verbose shows what the file has there, which is private"
}

// asksFor reports whether a command line has one of some arguments, or pairs of arguments with a newline between. The
// flag parser stops at the first wrong flag, and arguments behind it count too.
func asksFor(args []string, some ...string) bool {
	before, _, _ := strings.Cut(strings.Join(args, "\n")+"\n", "\n--\n")
	for _, one := range some {
		if strings.Contains("\n"+before+"\n", "\n"+one+"\n") {
			return true
		}
	}
	return false
}
