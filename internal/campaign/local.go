package campaign

import (
	"context"
	"slices"
	"sync"
)

// Local is the queue of one process.
type Local struct {
	size func(Cell) int

	mu       sync.Mutex
	pending  []Task        // in the order in which they are handed out
	out      map[Task]bool // handed out, and not reported
	finished map[Task]Result
	failed   map[Task]bool // twice, or because of their baseline
	repeated map[Task]bool // failed once
	changed  chan struct{} // closed and replaced whenever a batch is reported or returned
}

// NewLocal returns a queue of the tasks that a scan doesn't have. A batch has at most size(cell) tasks.
func NewLocal(tasks []Task, scan Scan, size func(Cell) int) *Local {
	q := &Local{size: size, out: map[Task]bool{}, finished: map[Task]Result{}, failed: map[Task]bool{}, repeated: map[Task]bool{}, changed: make(chan struct{})}
	seen := map[Task]bool{}
	for _, t := range tasks {
		if seen[t] {
			continue
		}
		seen[t] = true
		if r, ok := scan.Finished[t]; ok {
			q.finished[t] = r
			continue
		}
		_, failed := scan.Failed[t]
		if q.repeated[t] = scan.Repeated[t] || failed; failed && scan.Repeated[t] {
			q.failed[t] = true
			continue
		}
		q.pending = append(q.pending, t)
	}
	return q
}

// Next implements [Queue].
func (q *Local) Next(ctx context.Context) (Batch, error) {
	for {
		batch, changed, err := q.next()
		if batch != nil || err != nil {
			return batch, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// next returns a batch, or nil and a channel that is closed when there may be one.
func (q *Local) next() (Batch, <-chan struct{}, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.dropOrphans()
	var batch Batch
	for _, t := range q.pending {
		if !q.ready(t) || len(batch) > 0 && (t.group() != batch[0].group() || len(batch) >= q.size(t.Cell)) {
			continue
		}
		batch = append(batch, t)
	}
	if batch == nil && len(q.out) == 0 { // no pending one is waiting for another either: dropOrphans left none
		return nil, nil, ErrDrained
	}
	if batch != nil {
		q.pending = slices.DeleteFunc(q.pending, func(t Task) bool { return slices.Contains(batch, t) })
		for _, t := range batch {
			q.out[t] = true
		}
	}
	return batch, q.changed, nil
}

// ready reports whether nothing that a task depends on is missing.
func (q *Local) ready(t Task) bool {
	if t.Method != Single {
		return true
	}
	_, ok := q.finished[t.Of(Baseline)]
	return ok
}

// dropOrphans gives up single runs whose baseline isn't among the tasks, or failed.
func (q *Local) dropOrphans() {
	if len(q.out) > 0 {
		return
	}
	coming := map[Task]bool{}
	for _, t := range q.pending {
		coming[t] = t.Method == Baseline
	}
	q.pending = slices.DeleteFunc(q.pending, func(t Task) bool {
		if q.ready(t) || coming[t.Of(Baseline)] {
			return false
		}
		q.failed[t] = true
		return true
	})
}

// Report implements [Queue]. Of several reports of a task that was handed out once, the first counts.
func (q *Local) Report(_ context.Context, _ Batch, outcomes []Outcome) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, o := range outcomes {
		if !q.out[o.Task] {
			continue
		}
		delete(q.out, o.Task)
		switch t := o.Task; {
		case o.Err == nil:
			q.finished[t] = o.Result
		case q.repeated[t]:
			q.failed[t] = true
		default:
			q.repeated[t] = true
			q.pending = append(q.pending, t)
		}
	}
	q.wake()
	return nil
}

// Return implements [Queue].
func (q *Local) Return(batch Batch) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var back []Task
	for _, t := range batch {
		if q.out[t] {
			delete(q.out, t)
			back = append(back, t)
		}
	}
	q.pending = append(back, q.pending...)
	q.wake()
}

// wake lets all calls of Next look again.
func (q *Local) wake() {
	close(q.changed)
	q.changed = make(chan struct{})
}
