package experiment

import "fmt"

// Kind says what the user has to change to avoid an [Error].
type Kind int

// The kinds.
const (
	Usage  Kind = iota + 1 // invalid settings
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
