package train

import (
	"fmt"
	"sync"

	"github.com/dptrain/dptrain/internal/engine"
)

// ErrClosed is what errors wrap that say that a [Loaded], [Group], [Trainer] or [Predictor] was used after its Close. A
// second Close is no error.
var ErrClosed = engine.ErrClosed

// ErrInUse is what errors wrap that say that a [Loaded] was closed before its groups, or a [Group] was used while it
// trains.
var ErrInUse = engine.ErrInUse

// users counts what uses something that must be closed after all of them. Its methods may be used concurrently.
type users struct {
	mu     sync.Mutex
	count  int
	closed bool
}

// enter counts one more, unless the thing is closed.
func (u *users) enter() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed {
		return ErrClosed
	}
	u.count++
	return nil
}

func (u *users) leave() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.count--
}

// close reports whether the thing is to be closed now: the first time that nothing uses it.
func (u *users) close() (first bool, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.count > 0 {
		return false, fmt.Errorf("%w by %d groups: close them first", ErrInUse, u.count)
	}
	first, u.closed = !u.closed, true
	return first, nil
}
