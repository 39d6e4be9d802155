package pld

import "sync"

// atOnce calls functions that don't depend on each other, each in a goroutine of its own. Their results are the same in
// any order.
func atOnce(calls ...func()) {
	var all sync.WaitGroup
	for _, call := range calls[1:] {
		all.Go(call)
	}
	calls[0]()
	all.Wait()
}
