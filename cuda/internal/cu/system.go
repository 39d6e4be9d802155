//go:build cu

package cu

import (
	"errors"
	"fmt"

	"gorgonia.org/cu"

	"github.com/dptrain/dptrain/cuda/internal/driver"
)

// Error reports that a call of the driver failed.
type Error struct {
	Call string // the function, as the driver interface names it
	Err  error  // the code: cu.OutOfMemory
}

func (e *Error) Error() string { return e.Call + ": " + e.Err.Error() }

// Unwrap returns the code.
func (e *Error) Unwrap() error { return e.Err }

// Is makes an error of full memory a [driver.ErrOutOfMemory].
func (e *Error) Is(target error) bool {
	return e.Err == cu.OutOfMemory && target == driver.ErrOutOfMemory
}

// failed returns the error of a call, nil for success.
func failed(call string, err error) error {
	if err == nil {
		return nil
	}
	return &Error{Call: call, Err: err}
}

// System is this machine's driver. It was initialized when the program started.
type System struct{}

// Devices describes the devices that the driver sees, in its order.
func (System) Devices() ([]driver.Info, error) {
	count, err := cu.NumDevices()
	if err != nil {
		return nil, failed("cuDeviceGetCount", err)
	}
	var out []driver.Info
	for i := range count {
		info, _, err := describe(i)
		if err != nil {
			return nil, fmt.Errorf("device %d: %w", i, err)
		}
		out = append(out, info)
	}
	return out, nil
}

func describe(ordinal int) (driver.Info, cu.Device, error) {
	none := func(call string, err error) (driver.Info, cu.Device, error) {
		return driver.Info{}, 0, failed(call, err)
	}
	version := cu.Version()
	if version < 0 {
		return none("cuDriverGetVersion", errors.New("the driver doesn't tell its version"))
	}
	device, err := cu.GetDevice(ordinal)
	if err != nil {
		return none("cuDeviceGet", err)
	}
	name, err := device.Name()
	if err != nil {
		return none("cuDeviceGetName", err)
	}
	memory, err := device.TotalMem()
	if err != nil {
		return none("cuDeviceTotalMem", err)
	}
	info := driver.Info{Name: name, Memory: memory, Driver: fmt.Sprintf("%d.%d", version/1000, version%1000/10)}
	for attribute, to := range map[cu.DeviceAttribute]*int{
		cu.MultiprocessorCount: &info.Multiprocessors, cu.ComputeCapabilityMajor: &info.Major, cu.ComputeCapabilityMinor: &info.Minor,
	} {
		if *to, err = device.Attribute(attribute); err != nil {
			return none("cuDeviceGetAttribute", err)
		}
	}
	return info, device, nil
}

var _ driver.System = System{}
