package driver

import (
	"errors"
	"fmt"
	"math"
	"unsafe"
)

// Pointer is an address in a device's memory; 0 is none. It may point anywhere into an allocation: p+8 is 8 bytes on.
type Pointer uint64

// System is a machine's driver.
type System interface {
	// Devices describes the devices that the driver sees, in its order.
	Devices() ([]Info, error)
	// Open opens a device by its place in that order and loads PTX on it, which the driver compiles for the card.
	Open(ordinal int, ptx ...[]byte) (Device, error)
}

// Info describes a device.
type Info struct {
	Name            string // for people: the model of a GPU
	Driver          string // the newest CUDA version that the driver knows, "12.4"
	Memory          int64  // bytes
	Multiprocessors int
	Major, Minor    int // compute capability
}

// What implementations' errors wrap, so that those above can tell.
var (
	// ErrNoDriver says that there is no driver on this machine, or none that works.
	ErrNoDriver = errors.New("no NVIDIA driver")
	// ErrOutOfMemory says that a device's memory is full. The device goes on.
	ErrOutOfMemory = errors.New("out of device memory")
)

// Device runs kernels on memory of its own. It may be used from several goroutines; what they do takes turns.
//
// Offsets and sizes are in bytes. A launch may still run when Launch returns, and its error may be that of any later
// call, of Synchronize at the latest. Uploads, downloads and clears wait for the launches before them.
type Device interface {
	Info() Info

	// Alloc returns memory for at least one byte, aligned for every type. It holds nothing yet: kernels must not read it before
	// it is written.
	Alloc(bytes int) (Pointer, error)
	// Free gives back what Alloc returned.
	Free(Pointer) error

	Upload(to Pointer, offset int, from []byte) error
	Download(to []byte, from Pointer, offset int) error
	// Clear sets bytes to 0.
	Clear(p Pointer, offset, bytes int) error

	// Launch runs a kernel on blocks of threads. The arguments are those that [Arguments] takes, one for each of
	// the kernel's parameters, of the same type.
	Launch(kernel string, blocks, threads int, arguments ...any) error
	// Synchronize waits until all launches are done.
	Synchronize() error

	// Close frees everything. The device is of no use afterwards; to close it again does nothing.
	Close() error
}

// Number is an element that C++ and Go lay out alike.
type Number interface {
	~int8 | ~uint8 | ~int32 | ~uint32 | ~int64 | ~uint64 | ~float32 | ~float64
}

// Upload copies numbers to element index and those after it.
func Upload[T Number](d Device, to Pointer, index int, from []T) error {
	return d.Upload(to, index*size[T](), bytesOf(from))
}

// Download copies numbers from element index and those after it.
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

// bytesOf views numbers as bytes. Machines with GPUs have the least significant byte first, as GPUs do.
func bytesOf[T Number](numbers []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(numbers))), len(numbers)*size[T]())
}

// Kind is the type of an argument: one of the letters of the constants.
type Kind byte

// The types of arguments, which are those of kernels' parameters: global<T>, int32_t, uint32_t, int64_t, uint64_t, float,
// double.
const (
	KindPointer Kind = 'p'
	KindInt32   Kind = 'i'
	KindUint32  Kind = 'u'
	KindInt64   Kind = 'l'
	KindUint64  Kind = 'L'
	KindFloat32 Kind = 'f'
	KindFloat64 Kind = 'd'
)

// Argument is what a kernel gets for a parameter. An argument of 4 bytes is the low half of the word.
type Argument struct {
	Kind Kind
	Word uint64
}

// Arguments turns what is passed to [Device.Launch] into words. It takes Pointer, int32, uint32, int64, uint64, float32
// and float64, and nothing else: an int has no size of its own.
func Arguments(arguments ...any) ([]Argument, error) {
	words := make([]Argument, len(arguments))
	for i, a := range arguments {
		switch a := a.(type) {
		case Pointer:
			words[i] = Argument{KindPointer, uint64(a)}
		case int32:
			words[i] = Argument{KindInt32, uint64(uint32(a))}
		case uint32:
			words[i] = Argument{KindUint32, uint64(a)}
		case int64:
			words[i] = Argument{KindInt64, uint64(a)}
		case uint64:
			words[i] = Argument{KindUint64, a}
		case float32:
			words[i] = Argument{KindFloat32, uint64(math.Float32bits(a))}
		case float64:
			words[i] = Argument{KindFloat64, math.Float64bits(a)}
		default:
			return nil, fmt.Errorf("argument %d is of type %T: want driver.Pointer, int32, uint32, int64, uint64, float32 or float64",
				i, a)
		}
	}
	return words, nil
}
