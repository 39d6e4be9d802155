package accountant

import (
	"cmp"
	"errors"
	"fmt"
)

var (
	// ErrInvalid is wrapped by every error about an invalid event or argument.
	ErrInvalid = errors.New("invalid")
	// ErrInfeasible reports that no value of the calibrated parameter reaches the target.
	ErrInfeasible = errors.New("infeasible")
	// ErrUnbounded reports that every value of the calibrated parameter meets the target.
	ErrUnbounded = errors.New("unbounded")
)

// EventError names the part of an event that is invalid, and wraps the reason.
type EventError struct {
	Path string // from the outermost event inwards, as in "Composed.Events[1].PoissonSampled"
	Err  error
}

func (e *EventError) Error() string { return "event " + e.Path + ": " + e.Err.Error() }

// Unwrap returns the reason.
func (e *EventError) Unwrap() error { return e.Err }

// Validate reports the first invalid value in e as an *EventError that wraps ErrInvalid, or nil.
func Validate(e Event) error {
	return checkPart("", e)
}

func invalid(path, format string, args ...any) error {
	return &EventError{Path: path, Err: fmt.Errorf("%w: "+format, append([]any{ErrInvalid}, args...)...)}
}

// checkPart validates the event in the field named by prefix, which is empty for the outermost event.
func checkPart(prefix string, e Event) error {
	if e == nil {
		return invalid(cmp.Or(prefix, "root"), "no event")
	}
	if !known(e) {
		return invalid(cmp.Or(prefix, "root"), "%T is not an event: events are values, not pointers", e)
	}
	name := fmt.Sprintf("%T", e)[len("accountant."):]
	if prefix != "" {
		name = prefix + "." + name
	}
	return e.check(name)
}

// checkRepetitions validates r. It refuses pointers, whose targets could change between a draw of K and its charge.
func checkRepetitions(r Repetitions) error {
	switch r.(type) {
	case nil:
		return errors.New("no distribution of repetitions")
	case Poisson, TruncatedPoisson, TruncatedNegativeBinomial, Binomial, Fixed:
		return r.check()
	}
	return fmt.Errorf("%T is not a distribution of repetitions: they are values, not pointers", r)
}

func checkProbability(path, what string, p float64) error {
	if !(p >= 0 && p <= 1) { // also refuses NaN
		return invalid(path, "%s %v is outside [0, 1]", what, p)
	}
	return nil
}

func checkParts(path string, events []Event) error {
	for i, e := range events {
		if err := checkPart(fmt.Sprintf("%s.Events[%d]", path, i), e); err != nil {
			return err
		}
	}
	return nil
}
