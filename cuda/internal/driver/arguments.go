package driver

import (
	"fmt"
	"math"
	"unsafe"
)

// Struct is the argument for a parameter that is a struct: its words.
type Struct []uint64

// StructOf copies a struct into an argument. Its fields are of types that C++ and Go lay out alike, it is aligned to 8
// bytes, and its size is a multiple of 8.
func StructOf[T any](v *T) Struct {
	n := int(unsafe.Sizeof(*v))
	if n == 0 || n%8 != 0 {
		panic(fmt.Sprintf("driver: %T has %d bytes, which isn't a multiple of 8", *v, n))
	}
	words := make(Struct, n/8)
	copy(bytesOf(words), unsafe.Slice((*byte)(unsafe.Pointer(v)), n))
	return words
}

// Kind is the type of an argument: one of the letters of the constants.
type Kind byte

// The types of arguments. The corresponding parameters of kernels have the types global<T>, int32_t, uint32_t, int64_t,
// uint64_t, float, double, and structs of these.
const (
	KindPointer Kind = 'p'
	KindInt32   Kind = 'i'
	KindUint32  Kind = 'u'
	KindInt64   Kind = 'l'
	KindUint64  Kind = 'L'
	KindFloat32 Kind = 'f'
	KindFloat64 Kind = 'd'
	KindStruct  Kind = 's'
)

// Argument is the value of one parameter of a kernel. A number has one word; one of 4 bytes is the word's low half.
type Argument struct {
	Kind  Kind
	Words []uint64
}

// Arguments turns the arguments of [Device.Launch] into words. It takes Pointer, int32, uint32, int64, uint64, float32,
// float64 and Struct, but no other type, and no int, whose size differs between machines.
func Arguments(arguments ...any) ([]Argument, error) {
	out := make([]Argument, len(arguments))
	for i, a := range arguments {
		number := func(k Kind, word uint64) { out[i] = Argument{k, []uint64{word}} }
		switch a := a.(type) {
		case Pointer:
			number(KindPointer, uint64(a))
		case int32:
			number(KindInt32, uint64(uint32(a)))
		case uint32:
			number(KindUint32, uint64(a))
		case int64:
			number(KindInt64, uint64(a))
		case uint64:
			number(KindUint64, a)
		case float32:
			number(KindFloat32, uint64(math.Float32bits(a)))
		case float64:
			number(KindFloat64, math.Float64bits(a))
		case Struct:
			out[i] = Argument{KindStruct, a}
		default:
			return nil, fmt.Errorf("argument %d is of type %T: want driver.Pointer, int32, uint32, int64, uint64, "+
				"float32, float64 or driver.Struct", i, a)
		}
	}
	return out, nil
}
