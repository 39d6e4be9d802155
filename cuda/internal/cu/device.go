//go:build cu

package cu

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/dptrain/dptrain/cuda/internal/driver"
)

var errClosed = errors.New("the device is closed")

// Device is an opened device with the kernels that were loaded on it. It implements [driver.Device].
type Device struct {
	info    driver.Info
	ordinal int
	device  cu.Device
	context cu.CUContext

	mu      sync.Mutex
	closed  bool
	modules []cu.Module
	kernels map[string]cu.Function
	staging []byte
}

// stagingBytes is the number of bytes copied at a time: enough that calls cost little beside the bus.
const stagingBytes = 1 << 20

// Open opens a device and loads PTX on it, which the driver compiles for the card.
func (System) Open(ordinal int, ptx ...[]byte) (driver.Device, error) {
	info, device, err := describe(ordinal)
	if err != nil {
		return nil, fmt.Errorf("open device %d: %w", ordinal, err)
	}
	context, err := device.RetainPrimaryCtx()
	if err != nil {
		return nil, fmt.Errorf("open device %d: %w", ordinal, failed("cuDevicePrimaryCtxRetain", err))
	}
	d := &Device{
		info: info, ordinal: ordinal, device: device, context: context,
		kernels: map[string]cu.Function{}, staging: make([]byte, stagingBytes),
	}
	for _, image := range ptx {
		if err := d.load(image); err != nil {
			return nil, errors.Join(fmt.Errorf("open device %d: %w", ordinal, err), d.Close())
		}
	}
	return d, nil
}

// load compiles a module. The driver's compiler writes its messages to a log.
func (d *Device) load(ptx []byte) error {
	if bytes.IndexByte(ptx, 0) >= 0 {
		return errors.New("gorgonia.org/cu takes kernels as text, and no machine code")
	}
	return d.do(func() error {
		var log [4096]byte // its last byte stays 0
		module, err := cu.LoadDataEx(string(ptx), &cu.JITErrorLogBuffer{Buffer: log[:len(log)-1]})
		if err != nil {
			text, _, _ := bytes.Cut(log[:], []byte{0})
			return fmt.Errorf("compile kernels: %w: %s", failed("cuModuleLoadDataEx", err), text)
		}
		d.modules = append(d.modules, module)
		return nil
	})
}

// do calls f with the device's context on the calling thread.
func (d *Device) do(f func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return errClosed
	}
	return d.onThread(f)
}

// onThread calls f with the device's context on the calling thread. The caller has the lock.
func (d *Device) onThread(f func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cu.SetCurrentContext(d.context); err != nil {
		return failed("cuCtxSetCurrent", err)
	}
	return f()
}

// Info describes the device.
func (d *Device) Info() driver.Info { return d.info }

// Alloc allocates memory, whose content is undefined.
func (d *Device) Alloc(bytes int) (driver.Pointer, error) {
	var p cu.DevicePtr
	err := d.do(func() (err error) {
		p, err = cu.MemAlloc(int64(max(1, bytes)))
		return failed("cuMemAlloc", err)
	})
	if err != nil {
		return 0, fmt.Errorf("allocate %d bytes on device %d: %w", bytes, d.ordinal, err)
	}
	return driver.Pointer(p), nil
}

// Free frees memory.
func (d *Device) Free(p driver.Pointer) error {
	return d.do(func() error { return failed("cuMemFree", cu.MemFree(cu.DevicePtr(p))) })
}

// Upload copies bytes to an offset on the device.
//
// They go through the staging buffer, as in Download: cgo looks for Go pointers in the whole object that an argument
// points into, and panics if the numbers are a field beside a Go pointer.
func (d *Device) Upload(to driver.Pointer, offset int, from []byte) error {
	return d.do(func() error {
		at := cu.DevicePtr(to) + cu.DevicePtr(offset)
		for len(from) > 0 {
			n := copy(d.staging, from)
			if err := cu.MemcpyHtoD(at, unsafe.Pointer(&d.staging[0]), int64(n)); err != nil {
				return failed("cuMemcpyHtoD", err)
			}
			from, at = from[n:], at+cu.DevicePtr(n)
		}
		return nil
	})
}

// Download copies bytes from an offset on the device.
func (d *Device) Download(to []byte, from driver.Pointer, offset int) error {
	return d.do(func() error {
		at := cu.DevicePtr(from) + cu.DevicePtr(offset)
		for len(to) > 0 {
			n := min(len(to), len(d.staging))
			if err := cu.MemcpyDtoH(unsafe.Pointer(&d.staging[0]), at, int64(n)); err != nil {
				return failed("cuMemcpyDtoH", err)
			}
			copy(to, d.staging[:n])
			to, at = to[n:], at+cu.DevicePtr(n)
		}
		return nil
	})
}

// Clear sets bytes to 0.
func (d *Device) Clear(p driver.Pointer, offset, bytes int) error {
	return d.do(func() error {
		return failed("cuMemsetD8", cu.MemsetD8(cu.DevicePtr(p)+cu.DevicePtr(offset), 0, int64(bytes)))
	})
}

// Launch starts a kernel and doesn't wait for its end: a later call returns its errors.
func (d *Device) Launch(kernel string, blocks, threads int, args ...any) error {
	words, err := driver.Arguments(args...)
	if err != nil {
		return fmt.Errorf("launch %s: %w", kernel, err)
	}
	err = d.do(func() error {
		function, err := d.kernel(kernel)
		if err != nil {
			return err
		}
		return failed("cuLaunchKernel", launch(function, blocks, threads, words))
	})
	if err != nil {
		return fmt.Errorf("launch %s on device %d: %w", kernel, d.ordinal, err)
	}
	return nil
}

func (d *Device) kernel(name string) (cu.Function, error) {
	if f, ok := d.kernels[name]; ok {
		return f, nil
	}
	for _, m := range d.modules {
		if f, err := m.Function(name); err == nil {
			d.kernels[name] = f
			return f, nil
		}
	}
	return cu.Function{}, errors.New("there is no such kernel")
}

// Synchronize waits for everything that was launched.
func (d *Device) Synchronize() error {
	return d.do(func() error { return failed("cuCtxSynchronize", cu.Synchronize()) })
}

// Close gives the device back. A second Close does nothing.
func (d *Device) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil
	}
	d.closed = true
	var errs []error
	err := d.onThread(func() error {
		for _, m := range d.modules {
			errs = append(errs, failed("cuModuleUnload", m.Unload()))
		}
		return failed("cuDevicePrimaryCtxRelease", d.device.ReleasePrimaryCtx())
	})
	return errors.Join(append(errs, err)...)
}

var _ driver.Device = (*Device)(nil)
