package ui

import (
	"cmp"
	"io"
	"os"
	"runtime"
	"strings"

	"golang.org/x/term"
)

// Screen describes what a file can show. The zero Screen isn't a terminal: it shows lines of any length, in UTF-8.
type Screen struct {
	Terminal bool
	Dumb     bool       // a terminal that can't overwrite a line
	ASCII    bool       // a terminal that may not show other characters
	Columns  func() int // of the terminal now; nil or a result of 0 if they aren't known
}

// ScreenOf describes a file by its type and by the environment variables TERM, LC_ALL, LC_CTYPE and LANG.
func ScreenOf(file *os.File, getenv func(string) string) Screen {
	handle := int(file.Fd())
	if !term.IsTerminal(handle) {
		return Screen{}
	}
	dumb := getenv("TERM") == "dumb"
	return Screen{
		Terminal: true,
		Dumb:     dumb,
		ASCII:    dumb || !unicodeLocale(runtime.GOOS, getenv),
		Columns: func() int {
			columns, _, err := term.GetSize(handle)
			if err != nil {
				return 0
			}
			return columns
		},
	}
}

// unicodeLocale reports whether the locale's encoding is UTF-8. Without any setting the locale is C, except on Windows,
// which has no such variables.
func unicodeLocale(system string, getenv func(string) string) bool {
	locale := strings.ToLower(cmp.Or(getenv("LC_ALL"), getenv("LC_CTYPE"), getenv("LANG")))
	if locale == "" {
		return system == "windows"
	}
	return strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
}

// Width returns the number of columns to which text is wrapped, or 0 if it isn't.
func (s Screen) Width() int {
	if !s.Terminal || s.Columns == nil {
		return 0
	}
	return max(0, s.Columns())
}

// Writer returns a writer to w that writes only characters that the screen can show.
func (s Screen) Writer(w io.Writer) io.Writer {
	if s.ASCII {
		return &asciiWriter{to: w}
	}
	return w
}

// bar reports whether progress can be a line that is overwritten.
func (s Screen) bar() bool { return s.Terminal && !s.Dumb }
