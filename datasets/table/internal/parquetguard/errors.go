package parquetguard

import (
	"errors"
	"fmt"
)

// ErrUnpacked reports a file whose pages unpack to more bytes than [Open] was told to allow.
var ErrUnpacked = errors.New("the file unpacks to more than it may")

// Error reports a claim of a file that its other contents contradict.
type Error struct {
	Problem string // without anything that the file holds
	Private string // cites the file; may be empty
}

// Error returns Problem.
func (e *Error) Error() string { return e.Problem }

func problemf(format string, args ...any) *Error {
	return &Error{Problem: fmt.Sprintf(format, args...)}
}

// citing sets Private.
func (e *Error) citing(format string, args ...any) *Error {
	e.Private = fmt.Sprintf(format, args...)
	return e
}

// Recover turns a panic of the library into an [*Error]. Defer it in functions that call the library.
func Recover(err *error) {
	if p := recover(); p != nil {
		*err = problemf("a damaged Parquet file").citing("%v", p)
	}
}
