package tuner

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/dptrain/dptrain/train"
)

// Work is a plan to carry out beside others by [Executor.RunAll].
type Work struct {
	Plan Plan
	// Keeper keeps what is done of the plan: see [Executor]. Each plan needs a store of its own.
	Keeper train.Keeper
	// Progress is called with each event of the plan. It may be nil.
	Progress func(PrivateProgress)
}

// PlanErrors reports the plans of [Executor.RunAll] that failed: element i is the error of plan i, or nil.
type PlanErrors []error

func (e PlanErrors) Error() string {
	var out []string
	for i, err := range e {
		if err != nil {
			out = append(out, fmt.Sprintf("plan %d: %v", i, err))
		}
	}
	return strings.Join(out, "; ")
}

// Unwrap returns the errors that aren't nil.
func (e PlanErrors) Unwrap() []error {
	var out []error
	for _, err := range e {
		if err != nil {
			out = append(out, err)
		}
	}
	return out
}

// Or returns e, or nil if no plan failed.
func (e PlanErrors) Or() error {
	if len(e.Unwrap()) == 0 {
		return nil
	}
	return e
}

// RunAll carries out several plans. Their results are those of Run, in the order of work. A plan that fails doesn't stop
// the others: the error is then a [PlanErrors], and the results of the others are there.
func (e Executor) RunAll(ctx context.Context, work ...Work) ([]Result, error) {
	results, failed := make([]Result, len(work)), make(PlanErrors, len(work))
	for i, w := range work {
		e.Keeper, e.Progress = w.Keeper, w.Progress
		var unkept *train.KeepError
		result, err := e.Run(ctx, w.Plan)
		if err != nil && (ctx == nil || ctx.Err() != nil || errors.Is(err, train.ErrLost) || errors.As(err, &unkept)) {
			return nil, err
		}
		results[i], failed[i] = result, err
	}
	return results, failed.Or()
}
