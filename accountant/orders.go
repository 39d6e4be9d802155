package accountant

import (
	"cmp"
	"fmt"

	"github.com/dptrain/dptrain/internal/renyi"
)

// MaxOrder is the largest Rényi order that Orders may hold, 1024.
const MaxOrder = renyi.MaxOrder

// Orders are the integer Rényi orders Low to High, both included. The zero value means 2 to 256. The same orders are
// used in all parts of a computation: deltaHat, convexification and the final conversion. Theorems with sums over
// smaller orders always sum from order 2, even if Low is larger.
type Orders struct {
	Low, High int
}

var defaultOrders = Orders{Low: 2, High: 256}

func (o Orders) check() (Orders, error) {
	o = cmp.Or(o, defaultOrders)
	if o.Low < 2 || o.High < o.Low || o.High > MaxOrder {
		return o, fmt.Errorf("%w orders %d to %d: want 2 <= low <= high <= %d", ErrInvalid, o.Low, o.High, MaxOrder)
	}
	return o, nil
}
