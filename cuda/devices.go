package cuda

import (
	"errors"
	"fmt"

	"github.com/dptrain/dptrain/cuda/internal/driver"
)

// Info describes a GPU.
type Info = driver.Info

// ErrNoDevice says that there is no GPU that could be used. What it is wrapped in says what is missing and how to get it.
var ErrNoDevice = errors.New("no usable GPU")

// Devices describes the GPUs that this machine's driver sees, in its order: its index is a GPU's number in
// [Options.Devices]. Without a driver, or without any GPU, the error is an [ErrNoDevice].
func Devices() ([]Info, error) {
	s, err := system()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoDevice, err)
	}
	all, err := s.Devices()
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrNoDevice, err)
	case len(all) == 0:
		return nil, fmt.Errorf("%w: the driver sees none", ErrNoDevice)
	}
	return all, nil
}

// Usable tells why the engine can't run on a GPU, or nil if it can.
func Usable(i Info) error {
	if i.Major < 7 {
		return fmt.Errorf("%s has compute capability %d.%d; dptrain needs 7.0 or newer (Volta, 2017)", i.Name, i.Major, i.Minor)
	}
	return nil
}

// DeviceError says that a GPU failed while it was computing. What it had computed since the last state that was
// taken from it is lost; a new process may find it well again.
type DeviceError struct {
	Device string
	Err    error
}

func (e *DeviceError) Error() string { return fmt.Sprintf("GPU %s failed: %v", e.Device, e.Err) }

// Unwrap returns what the driver said.
func (e *DeviceError) Unwrap() error { return e.Err }
