package table

import (
	"archive/zip"
	"cmp"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// Error reports a problem of a file and its position. Its text goes to logs that others read, so it contains nothing
// from a row or a header of a private file, but only names from a [Schema] or from a person, numbers of rows and cells,
// and positions.
type Error struct {
	File    string
	Row     string // such as "line 7", counted from 1; empty if the problem concerns no single row
	Column  string // empty if the problem concerns no single column
	Problem string
	// Private quotes the file at that position, such as `the cell is "x"`. It is empty if there is nothing to quote,
	// and in errors of [Infer] and [File.Describe]: their files are public, so Problem has the quotation.
	Private string

	alone bool // the rows behind this one can be read
}

// Error returns the text without Private.
func (e *Error) Error() string { return e.File + ": " + e.About() }

// About returns the text without the file and Private.
func (e *Error) About() string {
	switch {
	case e.Row != "" && e.Column != "":
		return e.Row + ", column " + e.Column + ": " + e.Problem
	case e.Row != "":
		return e.Row + ": " + e.Problem
	case e.Column != "":
		return "column " + e.Column + ": " + e.Problem
	}
	return e.Problem
}

// problemf returns an error whose text must contain nothing private.
func problemf(format string, args ...any) *Error {
	return &Error{Problem: fmt.Sprintf(format, args...)}
}

// citing sets Private.
func (e *Error) citing(format string, args ...any) *Error {
	e.Private = fmt.Sprintf(format, args...)
	return e
}

// failed converts an error to an [Error]. A library's text may quote the file, so it is private, except for known
// texts.
func failed(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return problemf("the file is cut short")
	}
	for _, known := range []error{zip.ErrFormat, zip.ErrAlgorithm, zip.ErrChecksum, gzip.ErrHeader, gzip.ErrChecksum} {
		if errors.Is(err, known) {
			return problemf("it is damaged: %v", known)
		}
	}
	if offset, ok := errors.AsType[flate.CorruptInputError](err); ok {
		return problemf("it is damaged: %v", offset)
	}
	if file, ok := errors.AsType[*fs.PathError](err); ok {
		return problemf("%v", file)
	}
	return problemf("it is damaged, and can't be read").citing("%v", err)
}

// inColumn adds a column to an error that doesn't name one. The column's name must not be private.
func inColumn(err error, name string) *Error {
	e := *failed(err)
	e.Column = cmp.Or(e.Column, name)
	return &e
}

// cited returns err with Private in its text, for errors about a public file.
func cited(err error) error {
	var e *Error
	if err == nil || !errors.As(err, &e) || e.Private == "" {
		return err
	}
	public := *e
	public.Problem, public.Private = e.Problem+"; "+e.Private, ""
	return &public
}

// OptionError reports an option that can't be used.
type OptionError struct {
	Option  string // the name of the field of [Options], in lower case
	Problem string
}

func (e *OptionError) Error() string { return e.Option + ": " + e.Problem }

func optionf(option, format string, args ...any) error {
	return &OptionError{option, fmt.Sprintf(format, args...)}
}
