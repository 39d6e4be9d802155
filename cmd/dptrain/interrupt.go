package main

import (
	"context"
	"errors"
	"fmt"
)

// errInterrupted says that a signal came before something was done.
var errInterrupted = coded(codeInterrupted, errors.New("interrupted"))

// accounting is what a command does while it asks the accountant about a plan.
const accounting = "accounting for the plan"

// A teller has something shown by the goroutine that waits for a computation, as long as it does.
type teller func(show func())

// await returns what compute returns, or an error that wraps errInterrupted as soon as the context is done. It then
// leaves the computation to itself until the process ends, which has to be soon: the accountant can't be told to
// stop, nor can a read, and a step of training takes its time. So that nothing comes of it any more, compute
// returns a value and does nothing else: it neither prints nor logs, and changes no file but those that a killed
// process may leave too.
func await[T any](ctx context.Context, doing string, compute func() (T, error)) (T, error) {
	return awaitTelling(ctx, doing, func(teller) (T, error) { return compute() })
}

// awaitTelling is await for a computation that tells how far it has come.
func awaitTelling[T any](ctx context.Context, doing string, compute func(teller) (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1) // has room for what nobody waits for any more
	shows := make(chan func())
	tell := func(show func()) {
		select {
		case shows <- show:
		case <-ctx.Done():
		}
	}
	if ctx.Err() == nil {
		go func() {
			value, err := compute(tell)
			done <- outcome{value, err}
		}()
	}
	for {
		select {
		case show := <-shows:
			show()
		case o := <-done:
			if o.err == nil || ctx.Err() == nil { // otherwise it may have failed because it looked at the context itself
				return o.value, o.err
			}
		case <-ctx.Done():
			var none T
			return none, fmt.Errorf("%w while %s", errInterrupted, doing)
		}
	}
}
