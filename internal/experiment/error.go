package experiment

import "fmt"

// Kind says what a person has to change so that an [Error] goes away.
type Kind int

// The kinds.
const (
	Usage  Kind = iota + 1 // a setting that makes no sense
	Input                  // data, or a file, that can't be used
	Budget                 // a privacy budget that no noise meets
)

// Error is an error whose kind its text and type don't show.
type Error struct {
	Kind Kind
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

func usagef(format string, args ...any) error  { return &Error{Usage, fmt.Errorf(format, args...)} }
func inputf(format string, args ...any) error  { return &Error{Input, fmt.Errorf(format, args...)} }
func budgetf(format string, args ...any) error { return &Error{Budget, fmt.Errorf(format, args...)} }
