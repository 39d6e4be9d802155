package cpu

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// panicError stands for a panic. It says where that was and nothing of what the panic said, which may be made of a
// sample's values.
type panicError struct{ where string }

func (e *panicError) Error() string { return "internal error: panic in " + e.where }

// guard makes an error of a panic. Nobody but the goroutine that panics can: a worker's would end the process.
func guard(err *error) {
	if recover() != nil {
		*err = &panicError{origin()}
	}
}

// origin names the function that panicked, from within a deferred call.
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
