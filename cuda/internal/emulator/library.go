package emulator

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/dptrain/dptrain/cuda/internal/dl"
)

// Library holds compiled kernels. It is never unloaded.
type Library struct {
	create   func(seed uint64, unchecked uint32) uintptr
	destroy  func(device uintptr)
	error    func(device uintptr) string
	alloc    func(device uintptr, bytes uint64) uint64
	free     func(device uintptr, address uint64) int32
	upload   func(device uintptr, address uint64, offset int64, from unsafe.Pointer, bytes uint64) int32
	download func(device uintptr, to unsafe.Pointer, address uint64, offset int64, bytes uint64) int32
	clear    func(device uintptr, address uint64, offset int64, bytes uint64) int32
	launch   func(device uintptr, kernel string, blocks, threads uint32, words unsafe.Pointer, letters string) int32
	counters func(device uintptr, to unsafe.Pointer)
	twice    func() string
}

func open(file string) (*Library, error) {
	handle, err := dl.Open(file, false)
	if err != nil {
		return nil, fmt.Errorf("open emulated device: %w", err)
	}
	l := &Library{}
	for _, f := range []struct {
		name string
		to   any
	}{
		{"emulated_create", &l.create},
		{"emulated_destroy", &l.destroy},
		{"emulated_error", &l.error},
		{"emulated_alloc", &l.alloc},
		{"emulated_free", &l.free},
		{"emulated_upload", &l.upload},
		{"emulated_download", &l.download},
		{"emulated_clear", &l.clear},
		{"emulated_launch", &l.launch},
		{"emulated_counters", &l.counters},
		{"emulated_twice", &l.twice},
	} {
		symbol, err := dl.Symbol(handle, f.name)
		if err != nil {
			return nil, fmt.Errorf("open emulated device: %w", err)
		}
		purego.RegisterFunc(f.to, symbol)
	}
	if twice := l.twice(); twice != "" {
		return nil, errors.New(twice)
	}
	return l, nil
}

// Unchecked is a check to leave out, to see what a fault does if it isn't detected.
type Unchecked uint32

const (
	// Races is the check for races between threads and between blocks.
	Races Unchecked = 1 << iota
	// Unwritten is the check for reads of memory that was never written. All bits of new memory are 1, so it reads as
	// NaN or -1.
	Unwritten
)

// Device returns a device that makes all checks except the unchecked ones. The seed determines the orders in which
// blocks and threads run.
func (l *Library) Device(seed uint64, unchecked ...Unchecked) (*Device, error) {
	var all Unchecked
	for _, u := range unchecked {
		all |= u
	}
	handle := l.create(seed, uint32(all))
	if handle == 0 {
		return nil, errors.New("no memory for an emulated device")
	}
	return &Device{library: l, handle: handle, seed: seed}, nil
}
