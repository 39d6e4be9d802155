package campaign

import (
	"context"
	"errors"
)

// Batch is work that one machine does at once: tasks of one data set, optimizer, space and method, so that the time
// that a task takes says something about its method.
type Batch []Task

// Outcome is what became of a task.
type Outcome struct {
	Task   Task
	Result Result
	Err    error // nil if there is a result
}

// Queue hands out batches and takes their outcomes. One process asks for a batch, works on it and reports; several may
// do so side by side.
type Queue interface {
	// Next returns a batch. It waits while tasks depend on others that are handed out. The error wraps [ErrDrained]
	// when nothing is left.
	Next(ctx context.Context) (Batch, error)
	// Report takes the outcomes of a batch, one for each of its tasks. Parts of a batch may be reported as batches of
	// their own. A task that failed for the first time is handed out again.
	Report(ctx context.Context, batch Batch, outcomes []Outcome) error
	// Return gives tasks back that were handed out and have no outcome: they are handed out again.
	Return(batch Batch)
}

// ErrDrained reports a queue with nothing left.
var ErrDrained = errors.New("no task is left")

// group is what the tasks of a batch have in common.
type group struct {
	dataset, optimizer string
	space              Space
	method             Method
}

func (c Cell) group() group { return group{c.Dataset, c.Optimizer, c.Space, c.Method} }
