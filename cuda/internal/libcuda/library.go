package libcuda

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/dptrain/dptrain/cuda/internal/dl"
	"github.com/dptrain/dptrain/cuda/internal/driver"
)

// functions are the functions of the driver interface that this package calls. Handles are pointers; sizes are size_t.
type functions struct {
	init              func(flags uint32) result
	driverGetVersion  func(version *int32) result
	getErrorName      func(r result, name **byte) result
	getErrorString    func(r result, text **byte) result
	deviceGetCount    func(count *int32) result
	deviceGet         func(device *int32, ordinal int32) result
	deviceGetName     func(name *byte, length int32, device int32) result
	deviceTotalMem    func(bytes *uintptr, device int32) result
	deviceAttribute   func(value *int32, attribute, device int32) result
	primaryCtxRetain  func(context *uintptr, device int32) result
	primaryCtxRelease func(device int32) result
	ctxSetCurrent     func(context uintptr) result
	ctxSynchronize    func() result
	moduleLoadDataEx  func(module *uintptr, image unsafe.Pointer, options uint32, names *int32, values *uintptr) result
	moduleUnload      func(module uintptr) result
	moduleGetFunction func(function *uintptr, module uintptr, name string) result
	memAlloc          func(pointer *uint64, bytes uintptr) result
	memFree           func(pointer uint64) result
	memcpyHtoD        func(to uint64, from unsafe.Pointer, bytes uintptr) result
	memcpyDtoH        func(to unsafe.Pointer, from uint64, bytes uintptr) result
	memsetD8          func(pointer uint64, value uint8, bytes uintptr) result
	launchKernel      func(function uintptr, gx, gy, gz, bx, by, bz, shared uint32, stream uintptr, params, extra unsafe.Pointer) result
}

// names returns the functions by their names in the library.
func (f *functions) names() map[string]any {
	return map[string]any{
		"cuInit": &f.init, "cuDriverGetVersion": &f.driverGetVersion,
		"cuGetErrorName": &f.getErrorName, "cuGetErrorString": &f.getErrorString,
		"cuDeviceGetCount": &f.deviceGetCount, "cuDeviceGet": &f.deviceGet, "cuDeviceGetName": &f.deviceGetName,
		"cuDeviceTotalMem_v2": &f.deviceTotalMem, "cuDeviceGetAttribute": &f.deviceAttribute,
		"cuDevicePrimaryCtxRetain": &f.primaryCtxRetain, "cuDevicePrimaryCtxRelease_v2": &f.primaryCtxRelease,
		"cuCtxSetCurrent": &f.ctxSetCurrent, "cuCtxSynchronize": &f.ctxSynchronize,
		"cuModuleLoadDataEx": &f.moduleLoadDataEx, "cuModuleUnload": &f.moduleUnload, "cuModuleGetFunction": &f.moduleGetFunction,
		"cuMemAlloc_v2": &f.memAlloc, "cuMemFree_v2": &f.memFree,
		"cuMemcpyHtoD_v2": &f.memcpyHtoD, "cuMemcpyDtoH_v2": &f.memcpyDtoH, "cuMemsetD8_v2": &f.memsetD8,
		"cuLaunchKernel": &f.launchKernel,
	}
}

// result is the status that every function of the driver interface returns; 0 is success.
type result int32

// Error reports that a call of the driver failed.
type Error struct {
	Call string // the function, as the driver interface names it
	Name string // of the error: CUDA_ERROR_OUT_OF_MEMORY
	Text string
	code result
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s (%s)", e.Call, e.Text, e.Name) }

// Is reports whether target is driver.ErrOutOfMemory and the device's memory is full.
func (e *Error) Is(target error) bool { return e.code == 2 && target == driver.ErrOutOfMemory }

// Library is an opened driver. It implements [driver.System].
type Library struct {
	call    functions
	version int32
	empty   bool // there is no device, so the driver doesn't start
}

// system is the driver of this machine, opened once.
var system = sync.OnceValues(func() (*Library, error) { return open(systemNames...) })

// System opens this machine's driver. If there is none, the error wraps [driver.ErrNoDriver].
func System() (*Library, error) { return system() }

// open opens the first library of these names that exists.
func open(names ...string) (*Library, error) {
	var handle uintptr
	var first error
	for _, name := range names {
		h, err := dl.Open(name, true)
		if err == nil {
			handle = h
			break
		}
		if first == nil {
			first = err
		}
	}
	if handle == 0 {
		return nil, fmt.Errorf("%w: %w; install NVIDIA's driver for this machine's GPU, or run the container with its GPUs", driver.ErrNoDriver, first)
	}
	l := &Library{}
	for name, function := range l.call.names() {
		at, err := dl.Symbol(handle, name)
		if err != nil {
			return nil, fmt.Errorf("%w: it has no %s; dptrain needs a driver for CUDA 11 or newer", driver.ErrNoDriver, name)
		}
		purego.RegisterFunc(function, at)
	}
	const noDevice = 100
	switch r := l.call.init(0); {
	case r == noDevice:
		l.empty = true
		return l, nil
	case r != 0:
		err := l.failed("cuInit", r)
		return nil, fmt.Errorf("%w that works: %w", driver.ErrNoDriver, err)
	}
	if err := l.failed("cuDriverGetVersion", l.call.driverGetVersion(&l.version)); err != nil {
		return nil, err
	}
	return l, nil
}

// failed returns the error of a call, nil for success.
func (l *Library) failed(call string, r result) error {
	if r == 0 {
		return nil
	}
	e := &Error{Call: call, Name: fmt.Sprintf("error %d", r), Text: "the driver gives no reason", code: r}
	var text *byte
	if l.call.getErrorName(r, &text) == 0 && text != nil {
		e.Name = goString(text)
	}
	if text = nil; l.call.getErrorString(r, &text) == 0 && text != nil {
		e.Text = goString(text)
	}
	return e
}

// goString copies a string of C.
func goString(p *byte) string {
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
}

// Attributes of devices.
const (
	attributeMultiprocessors = 16
	attributeMajor           = 75
	attributeMinor           = 76
)

// Devices describes the devices that the driver sees, in its order.
func (l *Library) Devices() ([]driver.Info, error) {
	if l.empty {
		return nil, nil
	}
	var count int32
	if err := l.failed("cuDeviceGetCount", l.call.deviceGetCount(&count)); err != nil {
		return nil, err
	}
	var out []driver.Info
	for i := range count {
		info, _, err := l.describe(i)
		if err != nil {
			return nil, fmt.Errorf("device %d: %w", i, err)
		}
		out = append(out, info)
	}
	return out, nil
}

func (l *Library) describe(ordinal int32) (info driver.Info, device int32, err error) {
	if err := l.failed("cuDeviceGet", l.call.deviceGet(&device, ordinal)); err != nil {
		return driver.Info{}, 0, err
	}
	var name [256]byte
	var memory uintptr
	if err := l.failed("cuDeviceGetName", l.call.deviceGetName(&name[0], int32(len(name)-1), device)); err != nil {
		return driver.Info{}, 0, err
	}
	if err := l.failed("cuDeviceTotalMem", l.call.deviceTotalMem(&memory, device)); err != nil {
		return driver.Info{}, 0, err
	}
	info = driver.Info{Name: goString(&name[0]), Memory: int64(memory), Driver: fmt.Sprintf("%d.%d", l.version/1000, l.version%1000/10)}
	for attribute, to := range map[int32]*int{attributeMultiprocessors: &info.Multiprocessors, attributeMajor: &info.Major, attributeMinor: &info.Minor} {
		var value int32
		if err := l.failed("cuDeviceGetAttribute", l.call.deviceAttribute(&value, attribute, device)); err != nil {
			return driver.Info{}, 0, err
		}
		*to = int(value)
	}
	return info, device, nil
}
