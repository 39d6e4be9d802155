package campaign

import (
	"context"
	"errors"

	"github.com/dptrain/dptrain/internal/remote"
)

// Fleet is the other machines that carry out orders. Next is called beside the other methods, which are called one at a
// time. Once [Store.Direct] has returned without an error, whatever the fleet still has of the campaign may be
// forgotten: orders that aren't done are those of runs that ended in another way, or again.
type Fleet interface {
	// Post hands out an order. Posting it again while it is out, or when its delivery is waiting, changes nothing. Once
	// it is done, it may be posted like any other.
	Post(ctx context.Context, o remote.Order) error
	// Next waits for a delivery. One that was returned and isn't Done comes again after the coordinator has been
	// restarted. The same run may be delivered twice, by two machines.
	Next(ctx context.Context) (remote.Delivery, error)
	// Done forgets an order: what came of it is on the disk.
	Done(ctx context.Context, run string) error
	// Want is how many orders should be out at the moment. It changes as machines come and go.
	Want() int
}

// ErrRefused reports a run that machines keep delivering what can't be filed for.
var ErrRefused = errors.New("its deliveries can't be filed")
