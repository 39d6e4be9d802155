package cpu

import (
	"slices"
	"sync"
	"sync/atomic"
)

// team is the workers, one a core, that all runs of a loaded program share. A run borrows some for each step: its part
// of those that are free, so that none is idle while runs are under way, and the last run has them all. What a run
// computes doesn't depend on their number.
type team struct {
	size int
	hire func() *worker

	mu    sync.Mutex
	freed sync.Cond
	idle  []*worker
	lent  int // workers
	under int // runs under way
	crews int // of these, runs that have workers now
}

// worker is what one core needs for itself.
type worker struct {
	space workspace
	sum   *chunkSum
	acc   []float64 // the sum of its chunks, on the grid
}

func newTeam(size int, hire func() *worker) *team {
	t := &team{size: size, hire: hire}
	t.freed.L = &t.mu
	return t
}

// join tells that a run is under way; leave, that it is not.
func (t *team) join() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.under++
}

func (t *team) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.under--
}

// borrow waits for at least one worker, and takes no more than most.
func (t *team) borrow(most int) crew {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.lent == t.size {
		t.freed.Wait()
	}
	free, waiting := t.size-t.lent, max(1, t.under-t.crews)
	n := min(max(1, most), (free+waiting-1)/waiting)
	t.lent += n
	t.crews++
	c := make(crew, n)
	for i := range c {
		if last := len(t.idle) - 1; last >= 0 {
			c[i], t.idle = t.idle[last], t.idle[:last]
		} else {
			c[i] = t.hire()
		}
	}
	return c
}

func (t *team) giveBack(c crew) {
	t.mu.Lock()
	defer t.mu.Unlock()
	// Backward, so that the next crew has the same order and each core finds its own buffers in its cache.
	for _, w := range slices.Backward(c) {
		t.idle = append(t.idle, w)
	}
	t.lent -= len(c)
	t.crews--
	t.freed.Broadcast()
}

// dismiss lets the memory of idle workers go.
func (t *team) dismiss() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.idle = nil
}

// crew is the workers that a run has for a step.
type crew []*worker

// share calls f for every index below n, by whoever is free.
func (c crew) share(n int, f func(*worker, int) error) error {
	var next atomic.Int64
	errs := make([]error, len(c))
	work := func(k int) {
		for i := int(next.Add(1)) - 1; i < n && errs[k] == nil; i = int(next.Add(1)) - 1 {
			errs[k] = guarded(c[k], i, f)
		}
	}
	var wait sync.WaitGroup
	for k := 1; k < min(len(c), n); k++ {
		wait.Go(func() { work(k) })
	}
	work(0)
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func guarded(w *worker, i int, f func(*worker, int) error) (err error) {
	defer guard(&err)
	return f(w, i)
}

// clear forgets what the crew has summed.
func (c crew) clear() {
	for _, w := range c {
		clear(w.acc)
	}
}

// total adds up what the crew holds of coordinates from on: exactly, and so in any order.
func (c crew) total(from int, sum []float64) {
	copy(sum, c[0].acc[from:])
	for _, w := range c[1:] {
		for j, v := range w.acc[from:][:len(sum)] {
			sum[j] += v
		}
	}
}
