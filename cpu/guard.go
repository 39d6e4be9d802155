package cpu

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

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
