package driver

import (
	"errors"
	"unsafe"
)

// Pointer is an address in a device's memory; 0 is the null pointer. It may point anywhere into an allocation: p+8
// points 8 bytes further.
type Pointer uint64

// System is a machine's driver.
type System interface {
	// Devices describes the devices that the driver sees, in its order.
	Devices() ([]Info, error)
	// Open opens a device by its index in that order and loads PTX on it, which the driver compiles for the card.
	Open(ordinal int, ptx ...[]byte) (Device, error)
}

// Info describes a device.
type Info struct {
	Name            string // the model, for people
	Driver          string // the newest CUDA version that the driver knows, "12.4"
	Memory          int64  // bytes
	Multiprocessors int
	Major, Minor    int // compute capability
}

// Errors that implementations' errors wrap.
var (
	// ErrNoDriver reports that this machine has no working driver.
	ErrNoDriver = errors.New("no NVIDIA driver")
	// ErrOutOfMemory reports that a device's memory is full. The device still works.
	ErrOutOfMemory = errors.New("out of device memory")
)

// Device runs kernels on its own memory. Its methods may be called concurrently and run one after another.
//
// Offsets and sizes are in bytes. A launch may still run when Launch returns, and any later call may return its error,
// Synchronize at the latest. Uploads, downloads and clears wait for the launches before them.
type Device interface {
	Info() Info

	// Alloc returns memory for at least one byte, aligned for every type. Its content is undefined: kernels must write
	// it before they read it.
	Alloc(bytes int) (Pointer, error)
	// Free frees memory that Alloc returned.
	Free(Pointer) error

	Upload(to Pointer, offset int, from []byte) error
	Download(to []byte, from Pointer, offset int) error
	// Clear sets bytes to 0.
	Clear(p Pointer, offset, bytes int) error

	// Launch runs a kernel on blocks of threads. arguments must have a value for each of the kernel's parameters, of
	// the same type. [Arguments] lists the types.
	Launch(kernel string, blocks, threads int, arguments ...any) error
	// Synchronize waits until all launches are done.
	Synchronize() error

	// Close frees everything. No other call works afterwards; a second Close does nothing.
	Close() error
}

// Number is a type that C++ and Go lay out alike.
type Number interface {
	~int8 | ~uint8 | ~int32 | ~uint32 | ~int64 | ~uint64 | ~float32 | ~float64
}

// Upload copies numbers to elements index, index + 1, …
func Upload[T Number](d Device, to Pointer, index int, from []T) error {
	return d.Upload(to, index*size[T](), bytesOf(from))
}

// Download copies numbers from elements index, index + 1, …
func Download[T Number](d Device, to []T, from Pointer, index int) error {
	return d.Download(bytesOf(to), from, index*size[T]())
}

// New allocates memory for numbers and uploads them.
func New[T Number](d Device, numbers []T) (Pointer, error) {
	p, err := d.Alloc(len(numbers) * size[T]())
	if err != nil {
		return 0, err
	}
	if err := Upload(d, p, 0, numbers); err != nil {
		return 0, errors.Join(err, d.Free(p))
	}
	return p, nil
}

func size[T Number]() int {
	var zero T
	return int(unsafe.Sizeof(zero))
}

// bytesOf returns the memory of numbers. Machines with GPUs have the least significant byte first, as GPUs do.
func bytesOf[T Number](numbers []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(numbers))), len(numbers)*size[T]())
}
