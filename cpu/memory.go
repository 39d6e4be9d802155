package cpu

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/dptrain/dptrain/internal/arena"
	"github.com/dptrain/dptrain/internal/compile"
)

// buffer holds a value's rows, one for each sample of a microbatch, as floats or as indices.
type buffer struct {
	floats  []float32
	indices []int32
}

// memory is one worker's buffers for a microbatch. Gradients and predictions share them.
type memory struct {
	gradient, prediction []buffer // by value
}

// newMemory allocates the buffers of a full microbatch.
func newMemory(l *lowered) memory {
	floats := make([]float32, max(l.gradient.Floats, l.prediction.Floats)*l.samples)
	indices := make([]int32, max(l.gradient.Indices, l.prediction.Indices)*l.samples)
	buffersOf := func(by arena.Layout) []buffer {
		out := make([]buffer, len(l.values))
		for id, offset := range by.Offsets {
			v := l.values[id]
			from, to := offset*l.samples, (offset+v.Size)*l.samples
			switch {
			case offset < 0:
			case v.Type == compile.Int32:
				out[id].indices = indices[from:to]
			default:
				out[id].floats = floats[from:to]
			}
		}
		return out
	}
	return memory{buffersOf(l.gradient), buffersOf(l.prediction)}
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
