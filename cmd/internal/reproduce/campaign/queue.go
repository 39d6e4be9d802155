package campaign

import "slices"

// queue has the tasks that are left.
type queue struct {
	pending  []Task // in the order in which they start
	finished map[Task]bool
	repeated map[Task]bool // failed once
}

// newQueue returns a queue of the tasks that a scan doesn't have.
func newQueue(tasks []Task, scan Scan) *queue {
	q := &queue{finished: map[Task]bool{}, repeated: map[Task]bool{}}
	seen := map[Task]bool{}
	for _, t := range tasks {
		_, q.finished[t] = scan.Finished[t]
		_, failed := scan.Failed[t]
		q.repeated[t] = scan.Repeated[t] || failed
		if !seen[t] && !q.finished[t] && !(failed && scan.Repeated[t]) {
			q.pending = append(q.pending, t)
		}
		seen[t] = true
	}
	return q
}

// ready returns the tasks that can start now and are of the first one's data set, optimizer, space and method, so that
// the time that a task takes says something about its method. A single run waits for its baseline.
func (q *queue) ready() (batch []Task) {
	for _, t := range q.pending {
		if (t.Method != Single || q.finished[t.Of(Baseline)]) && (batch == nil || t.group() == batch[0].group()) {
			batch = append(batch, t)
		}
	}
	return batch
}

// group is what tasks that train side by side have in common.
type group struct {
	dataset, optimizer string
	space              Space
	method             Method
}

func (c Cell) group() group { return group{c.Dataset, c.Optimizer, c.Space, c.Method} }

// remove takes a task out.
func (q *queue) remove(t Task) {
	q.pending = slices.DeleteFunc(q.pending, func(p Task) bool { return p == t })
}

// again puts a task back, before all others.
func (q *queue) again(t Task) { q.pending = slices.Insert(q.pending, 0, t) }

// ended notes what became of a task. One that failed for the first time is pending again.
func (q *queue) ended(t Task, err error) {
	if err == nil {
		q.finished[t] = true
	} else if !q.repeated[t] {
		q.repeated[t] = true
		q.pending = append(q.pending, t)
	}
}
