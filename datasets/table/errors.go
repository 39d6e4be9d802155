package table

import "fmt"

// Error says what is wrong with a file, and where.
type Error struct {
	File    string
	Row     string // such as "line 7", counted from 1; empty if it is about no row
	Column  string // empty if it is about no column
	Problem string
}

func (e *Error) Error() string {
	text := e.File + ": "
	switch {
	case e.Row != "" && e.Column != "":
		text += e.Row + ", column " + e.Column + ": "
	case e.Row != "":
		text += e.Row + ": "
	case e.Column != "":
		text += "column " + e.Column + ": "
	}
	return text + e.Problem
}

// OptionError says that an option can't be used.
type OptionError struct {
	Option  string // its name, as that of the field of [Options] in lower case
	Problem string
}

func (e *OptionError) Error() string { return e.Option + ": " + e.Problem }

func optionf(option, format string, args ...any) error {
	return &OptionError{option, fmt.Sprintf(format, args...)}
}
