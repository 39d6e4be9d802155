//go:build unix

package campaign

import (
	"syscall"
	"time"
)

// processorTime returns the time that this process has had of all processors; 0 if the system doesn't say.
func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
