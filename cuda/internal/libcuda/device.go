package libcuda

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"github.com/dptrain/dptrain/cuda/internal/driver"
)

// Device is an opened device with the kernels that were loaded on it. It implements [driver.Device].
type Device struct {
	library *Library
	info    driver.Info
	ordinal int32
	device  int32

	mu      sync.Mutex
	context uintptr
	modules []uintptr
	kernels map[string]uintptr
}

// Open opens a device and loads PTX on it, which the driver compiles for the card.
func (l *Library) Open(ordinal int, ptx ...[]byte) (driver.Device, error) {
	info, device, err := l.describe(int32(ordinal))
	if err != nil {
		return nil, fmt.Errorf("open device %d: %w", ordinal, err)
	}
	d := &Device{library: l, info: info, ordinal: int32(ordinal), device: device, kernels: map[string]uintptr{}}
	if err := l.failed("cuDevicePrimaryCtxRetain", l.call.primaryCtxRetain(&d.context, device)); err != nil {
		return nil, fmt.Errorf("open device %d: %w", ordinal, err)
	}
	for _, image := range ptx {
		if err := d.load(image); err != nil {
			return nil, errors.Join(fmt.Errorf("open device %d: %w", ordinal, err), d.Close())
		}
	}
	return d, nil
}

// The used options of the driver's compiler.
const (
	jitErrorLog      = 5
	jitErrorLogBytes = 6
)

// load compiles a module. The driver's compiler writes its messages to a log.
func (d *Device) load(ptx []byte) error {
	image := append(append([]byte{}, ptx...), 0)
	return d.do(func() error {
		var log [4096]byte
		var pin runtime.Pinner // its address as a number doesn't keep the log in place, and stacks move
		pin.Pin(&log)
		defer pin.Unpin()
		options := []int32{jitErrorLog, jitErrorLogBytes}
		values := []uintptr{uintptr(unsafe.Pointer(&log[0])), uintptr(len(log) - 1)}
		var module uintptr
		r := d.library.call.moduleLoadDataEx(&module, unsafe.Pointer(&image[0]), uint32(len(options)), &options[0], &values[0])
		if err := d.library.failed("cuModuleLoadDataEx", r); err != nil {
			return fmt.Errorf("compile kernels: %w: %s", err, goString(&log[0]))
		}
		d.modules = append(d.modules, module)
		return nil
	})
}

// do calls f with the device's context on the calling thread.
func (d *Device) do(f func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.context == 0 {
		return errors.New("the device is closed")
	}
	return d.onThread(f)
}

// onThread calls f with the device's context on the calling thread. The caller has the lock.
func (d *Device) onThread(f func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := d.library.failed("cuCtxSetCurrent", d.library.call.ctxSetCurrent(d.context)); err != nil {
		return err
	}
	return f()
}

// Info describes the device.
func (d *Device) Info() driver.Info { return d.info }

// Alloc allocates memory, whose content is undefined.
func (d *Device) Alloc(bytes int) (driver.Pointer, error) {
	var p uint64
	err := d.do(func() error {
		return d.library.failed("cuMemAlloc", d.library.call.memAlloc(&p, uintptr(max(1, bytes))))
	})
	if err != nil {
		return 0, fmt.Errorf("allocate %d bytes on device %d: %w", bytes, d.ordinal, err)
	}
	return driver.Pointer(p), nil
}

// Free frees memory.
func (d *Device) Free(p driver.Pointer) error {
	return d.do(func() error { return d.library.failed("cuMemFree", d.library.call.memFree(uint64(p))) })
}

// Upload copies bytes to an offset on the device.
func (d *Device) Upload(to driver.Pointer, offset int, from []byte) error {
	if len(from) == 0 {
		return nil
	}
	return d.do(func() error {
		r := d.library.call.memcpyHtoD(uint64(to)+uint64(offset), unsafe.Pointer(&from[0]), uintptr(len(from)))
		runtime.KeepAlive(from)
		return d.library.failed("cuMemcpyHtoD", r)
	})
}

// Download copies bytes from an offset on the device.
func (d *Device) Download(to []byte, from driver.Pointer, offset int) error {
	if len(to) == 0 {
		return nil
	}
	return d.do(func() error {
		r := d.library.call.memcpyDtoH(unsafe.Pointer(&to[0]), uint64(from)+uint64(offset), uintptr(len(to)))
		runtime.KeepAlive(to)
		return d.library.failed("cuMemcpyDtoH", r)
	})
}

// Clear sets bytes to 0.
func (d *Device) Clear(p driver.Pointer, offset, bytes int) error {
	return d.do(func() error {
		return d.library.failed("cuMemsetD8", d.library.call.memsetD8(uint64(p)+uint64(offset), 0, uintptr(bytes)))
	})
}

// Launch starts a kernel and doesn't wait for its end: a later call returns its errors.
func (d *Device) Launch(kernel string, blocks, threads int, args ...any) error {
	words, err := driver.Arguments(args...)
	if err != nil {
		return fmt.Errorf("launch %s: %w", kernel, err)
	}
	params := make([]unsafe.Pointer, len(words)+1) // one more, so that there is a first
	for i := range words {
		params[i] = unsafe.Pointer(&words[i].Words[0]) // the word's low half comes first
	}
	err = d.do(func() error {
		function, err := d.kernel(kernel)
		if err != nil {
			return err
		}
		r := d.library.call.launchKernel(function, uint32(blocks), 1, 1, uint32(threads), 1, 1, 0, 0, unsafe.Pointer(&params[0]), nil)
		runtime.KeepAlive(params)
		runtime.KeepAlive(words)
		return d.library.failed("cuLaunchKernel", r)
	})
	if err != nil {
		return fmt.Errorf("launch %s on device %d: %w", kernel, d.ordinal, err)
	}
	return nil
}

func (d *Device) kernel(name string) (uintptr, error) {
	if f, ok := d.kernels[name]; ok {
		return f, nil
	}
	for _, m := range d.modules {
		var f uintptr
		if d.library.call.moduleGetFunction(&f, m, name) == 0 {
			d.kernels[name] = f
			return f, nil
		}
	}
	return 0, errors.New("there is no such kernel")
}

// Synchronize waits for everything that was launched.
func (d *Device) Synchronize() error {
	return d.do(func() error { return d.library.failed("cuCtxSynchronize", d.library.call.ctxSynchronize()) })
}

// Close releases the device. A second Close does nothing.
func (d *Device) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.context == 0 {
		return nil
	}
	var errs []error
	err := d.onThread(func() error {
		for _, m := range d.modules {
			errs = append(errs, d.library.failed("cuModuleUnload", d.library.call.moduleUnload(m)))
		}
		return d.library.failed("cuDevicePrimaryCtxRelease", d.library.call.primaryCtxRelease(d.device))
	})
	d.context = 0
	return errors.Join(append(errs, err)...)
}

var (
	_ driver.System = (*Library)(nil)
	_ driver.Device = (*Device)(nil)
)
