package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"
	"unicode"

	"github.com/sirupsen/logrus"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/runs/ledger"
	"github.com/dptrain/dptrain/cuda"
	"github.com/dptrain/dptrain/datasets"
	"github.com/dptrain/dptrain/datasets/table"
	"github.com/dptrain/dptrain/train"
)

const (
	codeOK          = 0
	codeInternal    = 1
	codeUsage       = 2
	codeInput       = 3
	codeBudget      = 4
	codeNetwork     = 5
	codeDiverged    = 6
	codeDevice      = 7
	codeStanding    = 8
	codeInterrupted = 130
)

const exitCodes = `Exit codes:
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

func coded(code int, err error) error { return &codedError{code, err} }

func usagef(format string, args ...any) error { return coded(codeUsage, fmt.Errorf(format, args...)) }

// codeOf has the exit code of each kind of error of package experiment.
var codeOf = map[experiment.Kind]int{experiment.Usage: codeUsage, experiment.Input: codeInput, experiment.Budget: codeBudget}

// exitCode returns the exit code of an error: its own, or else the one of its type.
func exitCode(err error) int {
	var given *codedError
	var failed *experiment.Error
	switch {
	case errors.Is(err, context.Canceled):
		return codeInterrupted
	case errors.As(err, &given):
		return given.code
	case errors.As(err, &failed):
		return codeOf[failed.Kind]
	case is[*ledger.BudgetError](err):
		return codeStanding
	case is[*cuda.DeviceError](err), errors.Is(err, cuda.ErrNoDevice):
		return codeDevice
	case errors.Is(err, train.ErrDiverged):
		return codeDiverged
	case errors.Is(err, accountant.ErrInfeasible):
		return codeBudget
	case is[*train.SettingError](err), is[*datasets.UnknownError](err), errors.Is(err, accountant.ErrInvalid):
		return codeUsage
	case errors.Is(err, datasets.ErrUnavailable):
		return codeNetwork
	case is[*train.KeepError](err), errors.Is(err, train.ErrOtherRun), errors.Is(err, train.ErrState),
		is[*train.DataError](err), is[*table.Error](err), is[*ledger.FileError](err), errors.Is(err, release.ErrNoModel), errors.Is(err, datasets.ErrInvalid), is[*fs.PathError](err):
		return codeInput
	}
	return codeInternal
}

// is reports whether an error wraps one of type T.
func is[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}

// privateText returns the cells that an error cites, if they are to be shown, or else how to see them. Terminals show
// them; other places keep what is written to them.
func privateText(err error, shown bool) string {
	var rows *table.Error
	switch {
	case !errors.As(err, &rows) || rows.Private == "":
		return ""
	case shown:
		return "; " + cleaned(rows.Private)
	}
	return "; --verbose shows what the file has there, which is private"
}

// printable replaces characters by which a file could steer a terminal.
func printable(r rune) rune {
	if unicode.IsPrint(r) {
		return r
	}
	return ' '
}

// cleaned replaces characters by which a text could steer a terminal or a table.
func cleaned(text string) string { return strings.Map(printable, text) }

// failure is an error as JSON, on standard error. Its first fields are those of a log entry, with --log-format json.
type failure struct {
	Time    string `json:"time,omitempty"`
	Level   string `json:"level,omitempty"`
	Message string `json:"message,omitempty"`
	Error   string `json:"error,omitempty"`
	Code    int    `json:"exit_code"`
}

// fail writes an error to standard error and returns its exit code. With --json it is an object. Private cells are then
// shown with --verbose alone: objects are made to be kept.
func (g *global) fail(err error, args []string) int {
	code := exitCode(err)
	asJSON := g.json || asksFor(args, "--json", "--json=true")
	logged := g.logFormat == logJSON || asksFor(args, "--log-format=json", "--log-format\njson")
	text := strings.ReplaceAll(err.Error(), "\n", "; ") // one line for each of joined errors
	text += privateText(err, g.verbose || g.terminal && !asJSON && !logged)
	if !asJSON && !logged {
		fmt.Fprintln(g.screen.Writer(g.stderr), "dptrain:", cleaned(text))
		return code
	}
	f := failure{Code: code}
	if asJSON {
		f.Error = text
	}
	if logged {
		f.Time, f.Level, f.Message = time.Now().Format(time.RFC3339), logrus.ErrorLevel.String(), text
	}
	enc := json.NewEncoder(g.stderr)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(f) // there is no other place for an error
	return code
}

// asksFor reports whether a command line has one of some arguments, or pairs of arguments with a newline between. The
// flag parser stops at the first wrong flag, and what is behind it counts too.
func asksFor(args []string, some ...string) bool {
	before, _, _ := strings.Cut(strings.Join(args, "\n")+"\n", "\n--\n")
	for _, one := range some {
		if strings.Contains("\n"+before+"\n", "\n"+one+"\n") {
			return true
		}
	}
	return false
}
