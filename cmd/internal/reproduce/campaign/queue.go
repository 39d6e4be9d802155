package campaign

import "slices"

// queue has the jobs that are left to do.
type queue struct {
	pending  []Job // in the order in which they start
	finished map[Job]bool
	repeated map[Job]bool // failed once
}

// newQueue returns a queue of the jobs that a scan doesn't have.
func newQueue(jobs []Job, scan Scan) *queue {
	q := &queue{finished: map[Job]bool{}, repeated: map[Job]bool{}}
	seen := map[Job]bool{}
	for _, j := range jobs {
		_, q.finished[j] = scan.Finished[j]
		_, failed := scan.Failed[j]
		q.repeated[j] = scan.Repeated[j] || failed
		if !seen[j] && !q.finished[j] && !(failed && scan.Repeated[j]) {
			q.pending = append(q.pending, j)
		}
		seen[j] = true
	}
	return q
}

// ready returns the group of jobs that can start now beside the first one. All are of one kind, so that the time that a
// job takes says something about its method. A single run waits for its baseline.
func (q *queue) ready() (group []Job) {
	for _, j := range q.pending {
		if (j.Method != Single || q.finished[j.Of(Baseline)]) && (group == nil || j.kind() == group[0].kind()) {
			group = append(group, j)
		}
	}
	return group
}

// kind returns what the jobs of a group have in common: all but accounting and epsilon.
func (c Cell) kind() Cell {
	c.Accounting, c.Epsilon = "", 0
	return c
}

// remove takes a job out of the queue.
func (q *queue) remove(j Job) {
	q.pending = slices.DeleteFunc(q.pending, func(p Job) bool { return p == j })
}

// again puts a job back, before all others.
func (q *queue) again(j Job) { q.pending = slices.Insert(q.pending, 0, j) }

// ended records the end of a job. A job that failed for the first time is pending again.
func (q *queue) ended(j Job, err error) {
	if err == nil {
		q.finished[j] = true
	} else if !q.repeated[j] {
		q.repeated[j] = true
		q.pending = append(q.pending, j)
	}
}
