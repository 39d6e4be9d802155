//go:build cu

package cu

/*
#cgo LDFLAGS: -lcuda
#cgo linux LDFLAGS: -L/usr/local/cuda/lib64 -L/usr/local/cuda/lib -L/usr/lib/x86_64-linux-gnu/
#include <stdlib.h>

// As cuda.h declares it, with pointers for handles.
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
	unsigned shared, void *stream, void **parameters, void **extra);
*/
import "C"

import (
	"unsafe"

	"gorgonia.org/cu"

	"github.com/dptrain/dptrain/cuda/internal/driver"
)

// launch calls cuLaunchKernel. cu.Function.Launch copies 8 bytes of each argument, and a struct has more. C gets copies
// of the arguments: cgo passes no Go pointers to Go pointers.
func launch(f cu.Function, blocks, threads int, arguments []driver.Argument) error {
	handle := *(*unsafe.Pointer)(unsafe.Pointer(&f)) // its only field
	words := 0
	for _, a := range arguments {
		words += len(a.Words)
	}
	const word = 8
	memory := C.malloc(C.size_t(word * (words + len(arguments) + 1)))
	defer C.free(memory)
	values := unsafe.Slice((*uint64)(memory), words)
	parameters := unsafe.Slice((*unsafe.Pointer)(unsafe.Add(memory, word*words)), len(arguments)+1)
	for i, a := range arguments {
		copy(values, a.Words)
		parameters[i] = unsafe.Pointer(unsafe.SliceData(values))
		values = values[len(a.Words):]
	}
	code := C.cuLaunchKernel(handle, C.uint(blocks), 1, 1, C.uint(threads), 1, 1, 0, nil, &parameters[0], nil)
	if code == 0 {
		return nil
	}
	return as(cu.Success, code)
}

// as converts a code to gorgonia.org/cu's error type, which the library doesn't export.
func as[T interface {
	~int
	error
}](_ T, code C.int) error {
	return T(code)
}
