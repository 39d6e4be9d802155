package emulator

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"unsafe"

	"github.com/dptrain/dptrain/cuda/internal/driver"
)

// Device is an emulated device. It still works after a fault; memory then holds what the launch had written until the
// fault.
type Device struct {
	library *Library
	seed    uint64

	mu     sync.Mutex
	handle uintptr // 0: closed
}

var _ driver.Device = (*Device)(nil)

// Counters are sums over all launches of a device.
type Counters struct {
	Launches     uint64
	BytesRead    uint64 // of global memory, without atomic additions
	BytesWritten uint64
	Atomics      uint64 // on global and on shared memory
	Barriers     uint64 // that a block passed
	MultiplyAdds uint64 // by multiply_add
	Cycles       uint64 // in which schedulers issue instructions, of all blocks; counted in translated PTX alone
	Busiest      uint64 // the same of each launch's busiest block
}

var errClosed = errors.New("the device is closed")

// Info describes the device. The name contains its seed, with which a fault can be repeated.
func (d *Device) Info() driver.Info {
	return driver.Info{Name: fmt.Sprintf("emulated device, seed %d", d.seed), Memory: 1 << 32, Multiprocessors: 2}
}

// with runs a call on the device, which reports whether it succeeded.
func (d *Device) with(call func(l *Library, handle uintptr) bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.handle == 0 {
		return errClosed
	}
	if !call(d.library, d.handle) {
		return errors.New(d.library.error(d.handle))
	}
	return nil
}

// Alloc implements [driver.Device].
func (d *Device) Alloc(bytes int) (p driver.Pointer, err error) {
	if bytes < 1 {
		return 0, fmt.Errorf("alloc: %d bytes", bytes)
	}
	err = d.with(func(l *Library, handle uintptr) bool {
		p = driver.Pointer(l.alloc(handle, uint64(bytes)))
		return p != 0
	})
	return p, err
}

// Free implements [driver.Device].
func (d *Device) Free(p driver.Pointer) error {
	return d.with(func(l *Library, handle uintptr) bool {
		return l.free(handle, uint64(p)) != 0
	})
}

// Upload implements [driver.Device].
func (d *Device) Upload(to driver.Pointer, offset int, from []byte) error {
	return d.with(func(l *Library, handle uintptr) bool {
		ok := l.upload(handle, uint64(to), int64(offset), unsafe.Pointer(unsafe.SliceData(from)), uint64(len(from))) != 0
		runtime.KeepAlive(from)
		return ok
	})
}

// Download implements [driver.Device]. Downloading memory that was never written is an error.
func (d *Device) Download(to []byte, from driver.Pointer, offset int) error {
	return d.with(func(l *Library, handle uintptr) bool {
		ok := l.download(handle, unsafe.Pointer(unsafe.SliceData(to)), uint64(from), int64(offset), uint64(len(to))) != 0
		runtime.KeepAlive(to)
		return ok
	})
}

// Clear implements [driver.Device].
func (d *Device) Clear(p driver.Pointer, offset, bytes int) error {
	if bytes < 0 {
		return fmt.Errorf("clear: %d bytes", bytes)
	}
	return d.with(func(l *Library, handle uintptr) bool {
		return l.clear(handle, uint64(p), int64(offset), uint64(bytes)) != 0
	})
}

// Launch implements [driver.Device]. It returns after the kernel has ended.
func (d *Device) Launch(kernel string, blocks, threads int, arguments ...any) error {
	for _, n := range []int{blocks, threads} {
		if n < 0 || n > math.MaxInt32 {
			return fmt.Errorf("kernel %q: %d blocks of %d threads", kernel, blocks, threads)
		}
	}
	given, err := driver.Arguments(arguments...)
	if err != nil {
		return fmt.Errorf("kernel %q: %w", kernel, err)
	}
	var words []uint64
	var letters []byte
	for _, a := range given {
		words = append(words, a.Words...)
		letters = append(append(letters, byte(a.Kind)), bytes.Repeat([]byte{'.'}, len(a.Words)-1)...)
	}
	return d.with(func(l *Library, handle uintptr) bool {
		ok := l.launch(handle, kernel, uint32(blocks), uint32(threads), unsafe.Pointer(unsafe.SliceData(words)), string(letters)) != 0
		runtime.KeepAlive(words)
		return ok
	})
}

// Synchronize implements [driver.Device]. It has nothing to wait for, since Launch waits for the kernel.
func (d *Device) Synchronize() error {
	return d.with(func(*Library, uintptr) bool { return true })
}

// Counters returns the sums so far, zeros for a closed device.
func (d *Device) Counters() Counters {
	c := new(Counters)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.handle != 0 {
		d.library.counters(d.handle, unsafe.Pointer(c))
	}
	return *c
}

// Close implements [driver.Device]. A second Close does nothing.
func (d *Device) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.handle != 0 {
		d.library.destroy(d.handle)
	}
	d.handle = 0
	return nil
}
