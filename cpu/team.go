package cpu

import (
	"cmp"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/dptrain/dptrain/internal/random"
)

// team is the workers, one a core, that all runs of a loaded program share. A run borrows its share of the free ones,
// so that no worker is idle while runs take steps, and the last run has all. It keeps them from step to step until
// another run begins, ends or waits. Results don't depend on their number.
type team struct {
	size int
	hire func() *worker

	mu    sync.Mutex
	freed sync.Cond
	idle  []*worker
	lent  int // the number of workers lent
	under int // the number of joined runs
	crews int // the number of these with workers now

	asked, served atomic.Int64 // calls of borrow, and those that have got workers, in the same order
	changes       atomic.Int64 // counts what changes a run's share
}

// worker holds the buffers of one core.
type worker struct {
	space      workspace
	sum        *sum
	noise      random.Stream      // of the step
	sums, mean [blockSize]float64 // of a block of coordinates

	own  task   // what its crew shares if it is the crew's first
	aids *task  // that of its crew's first
	aid  func() // works on it; a value, since a go statement with arguments would allocate
	err  error  // its failure in that
}

// task is work that a crew shares.
type task struct {
	f    func(*worker, int) error
	n    int
	next atomic.Int64 // the first index that nobody has taken
	wait sync.WaitGroup
}

func newTeam(size int, hire func() *worker) *team {
	t := &team{size: size, hire: hire}
	t.freed.L = &t.mu
	return t
}

// join adds a run to the runs that take steps; leave removes it.
func (t *team) join() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.under++
	t.changes.Add(1)
}

func (t *team) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.under--
	t.changes.Add(1)
}

// borrow waits for a free worker, behind those who have asked before, and returns at most maximum workers. After a step
// the borrower gives them back if others wait, or if changes isn't what it was, and borrows again; had is how many it
// had.
func (t *team) borrow(maximum, had int) (_ crew, changes int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	turn := t.asked.Add(1) - 1
	for t.lent == t.size || t.served.Load() < turn {
		t.freed.Wait()
	}
	t.served.Add(1)
	t.freed.Broadcast() // the next one's turn has come
	free, waiting := t.size-t.lent, max(1, t.under-t.crews)
	share := (free + waiting - 1) / waiting
	n := min(max(1, maximum), share)
	if n < share && n != had { // others can have more
		t.changes.Add(1)
	}
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
	return c, t.changes.Load()
}

// waiting returns the number of those who wait for workers.
func (t *team) waiting() int64 { return t.asked.Load() - t.served.Load() }

func (t *team) giveBack(c crew) {
	t.mu.Lock()
	defer t.mu.Unlock()
	// Backward, so that the next crew has the same order and each core finds its buffers in its cache.
	for _, w := range slices.Backward(c) {
		t.idle = append(t.idle, w)
	}
	t.lent -= len(c)
	t.crews--
	t.freed.Broadcast()
}

// dismiss frees the memory of idle workers.
func (t *team) dismiss() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.idle = nil
}

// crew is the workers that a run has borrowed for a step.
type crew []*worker

// crewOf returns n workers for work that needs no buffers.
func crewOf(n int) crew {
	c := make(crew, n)
	for i := range c {
		c[i] = new(worker)
	}
	return c
}

// share calls f for every index below n, each time on a free worker. It returns the first error.
func (c crew) share(n int, f func(*worker, int) error) error {
	t := &c[0].own
	t.f, t.n = f, n
	t.next.Store(0)
	for _, w := range c[1:max(1, min(len(c), n))] {
		if w.aids != t {
			w.aids, w.aid = t, func() { defer t.wait.Done(); w.work(t) }
		}
		t.wait.Add(1)
		go w.aid()
	}
	c[0].work(t)
	t.wait.Wait()
	t.f = nil
	var err error
	for _, w := range c {
		err, w.err = cmp.Or(err, w.err), nil
	}
	return err
}

// work takes indices of a task until none is left or one fails.
func (w *worker) work(t *task) {
	for i := int(t.next.Add(1)) - 1; i < t.n && w.err == nil; i = int(t.next.Add(1)) - 1 {
		w.err = guarded(w, i, t.f)
	}
}

func guarded(w *worker, i int, f func(*worker, int) error) (err error) {
	defer guard(&err)
	return f(w, i)
}

// total moves the workers' sums in units, for coordinates from, from+1, …, to total, which is 0. The addition is exact,
// and so independent of the order. After the last coordinate, call forget.
func (c crew) total(from int, total []float64) {
	for _, w := range c {
		w.sum.moveTo(total, from)
	}
}

// only returns the units of one worker if they are the whole sum for these coordinates, or nil. The caller clears them.
func (c crew) only(at span) []int32 {
	if len(c) > 1 || c[0].sum.filled {
		return nil
	}
	return c[0].sum.units[at.from:at.to]
}

// forget notes that the workers' sums were moved.
func (c crew) forget() {
	for _, w := range c {
		w.sum.forget()
	}
}

// panicError reports a panic. It names the function that panicked and leaves out the panic's value, which may hold a
// sample's values.
type panicError struct{ where string }

func (e *panicError) Error() string { return "internal error: panic in " + e.where }

// guard turns a panic of its goroutine into an error. Defer it in every worker: no other goroutine can recover the
// panic, which would end the process.
func guard(err *error) {
	if recover() != nil {
		*err = &panicError{origin()}
	}
}

// origin returns the name of the function that panicked. Call it from a deferred function.
func origin() string {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for thrown := false; ; {
		f, more := frames.Next()
		inRuntime := strings.HasPrefix(f.Function, "runtime.")
		if thrown && !inRuntime {
			return fmt.Sprintf("%s (%s:%d)", f.Function, filepath.Base(f.File), f.Line)
		}
		thrown = thrown || f.Function == "runtime.gopanic"
		if !more {
			return "an unknown place"
		}
	}
}
