package experiment

import "fmt"

// Kind classifies an [Error] by what a person has to change.
type Kind int

// The kinds.
const (
	Usage  Kind = iota + 1 // settings that make no sense
	Input                  // data or files that can't be used
	Budget                 // a privacy budget that no noise meets
)

// Error is an error with its kind. The errors of other packages keep their own types.
type Error struct {
	Kind Kind
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

func usagef(format string, args ...any) error  { return &Error{Usage, fmt.Errorf(format, args...)} }
func inputf(format string, args ...any) error  { return &Error{Input, fmt.Errorf(format, args...)} }
func budgetf(format string, args ...any) error { return &Error{Budget, fmt.Errorf(format, args...)} }
