package datasets

import (
	"syscall"
	"unsafe"
)

// makeLarge is like make, for the values of a whole split. It asks the kernel for huge pages, because the kernel takes
// longer to provide MNIST's samples in small ones than the files take to read. A kernel without huge pages refuses,
// which does no harm.
func makeLarge[T byte | int32 | float32](n int) []T {
	const page = 2 << 20 // bytes of a huge page on most processors
	values := make([]T, n)
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), n*int(unsafe.Sizeof(*new(T))))
	if len(bytes) < 2*page {
		return values
	}
	// Only whole pages: other values share the rest of the first and of the last one.
	bytes = bytes[-uintptr(unsafe.Pointer(&bytes[0]))%page:]
	_ = syscall.Madvise(bytes[:len(bytes)/page*page], syscall.MADV_HUGEPAGE)
	return values
}
