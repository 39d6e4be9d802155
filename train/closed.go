package train

import (
	"fmt"
	"sync"

	"github.com/dptrain/dptrain/internal/engine"
)

// ErrClosed is wrapped by the errors of methods that are called on a closed [Loaded], [Group], [Trainer] or
// [Predictor]. A second Close is no error.
var ErrClosed = engine.ErrClosed

// ErrInUse is wrapped by the error of a [Loaded] that is closed before its groups, and by the errors of a [Group] or
// [Trainer] that is used while it trains.
var ErrInUse = engine.ErrInUse

// users counts the users of a resource that must be closed after all of them. Its methods may be called concurrently.
type users struct {
	mu     sync.Mutex
	count  int
	closed bool
}

// enter counts one more user, unless the resource is closed.
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

// close marks the resource as closed and reports whether it was open; the error is an [ErrInUse] while it has users.
func (u *users) close() (first bool, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.count > 0 {
		return false, fmt.Errorf("%w by %d groups: close them first", ErrInUse, u.count)
	}
	first, u.closed = !u.closed, true
	return first, nil
}
