package ui

import (
	"os"

	"golang.org/x/term"
)

// Screen describes what a file can show. The zero Screen isn't a terminal: it shows lines of any length, in UTF-8.
type Screen struct {
	Terminal bool
	Dumb     bool       // a terminal that can't overwrite a line
	Columns  func() int // of the terminal now; nil or a result of 0 if they aren't known
}

// ScreenOf describes a file by its type and by the environment variable TERM.
func ScreenOf(file *os.File) Screen {
	handle := int(file.Fd())
	if !term.IsTerminal(handle) {
		return Screen{}
	}
	return Screen{
		Terminal: true,
		Dumb:     os.Getenv("TERM") == "dumb",
		Columns: func() int {
			columns, _, err := term.GetSize(handle)
			if err != nil {
				return 0
			}
			return columns
		},
	}
}

// Width returns the number of columns to which text is wrapped, or 0 if it isn't.
func (s Screen) Width() int {
	if !s.Terminal || s.Columns == nil {
		return 0
	}
	return max(0, s.Columns())
}

// bar reports whether progress can be a line that is overwritten.
func (s Screen) bar() bool { return s.Terminal && !s.Dumb }
