package cuda

import (
	"errors"
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/cuda/internal/driver"
	"github.com/dptrain/dptrain/internal/engine"
)

// Info describes a GPU.
type Info = driver.Info

// ErrNoDevice reports that there is no usable GPU. The error that wraps it names the missing part and how to get it.
var ErrNoDevice = errors.New("no usable GPU")

// ErrOutOfMemory reports that a GPU lacks memory even for one thread block and one run at a time.
var ErrOutOfMemory = driver.ErrOutOfMemory

// Devices describes the GPUs that this machine's driver sees. A GPU's index in the result is its number in
// Options.Devices. Without a driver or without any GPU the error wraps [ErrNoDevice].
func Devices() ([]Info, error) {
	s, err := system()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoDevice, err)
	}
	return devices(s)
}

func devices(s driver.System) ([]Info, error) {
	all, err := s.Devices()
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrNoDevice, err)
	case len(all) == 0:
		return nil, fmt.Errorf("%w: the driver sees none", ErrNoDevice)
	}
	return all, nil
}

// Usable returns the reason why the engine can't run on a GPU, or nil if it can.
func Usable(i Info) error {
	if i.Major < 7 {
		return fmt.Errorf("%s has compute capability %d.%d; dptrain needs 7.0 or newer (Volta, 2017)", i.Name, i.Major, i.Minor)
	}
	return nil
}

// choose returns the numbers of the GPUs to use: asked, or, if asked is nil, all usable GPUs with the first one's
// compute capability.
func choose(all []Info, asked []int) ([]int, error) {
	alike := func(a, b int) bool { return all[a].Major == all[b].Major && all[a].Minor == all[b].Minor }
	var out []int
	if asked == nil {
		var reasons []error
		for i := range all {
			if err := Usable(all[i]); err != nil {
				reasons = append(reasons, err)
			} else if len(out) == 0 || alike(out[0], i) {
				out = append(out, i)
			}
		}
		if len(out) == 0 {
			return nil, fmt.Errorf("%w: %w", ErrNoDevice, errors.Join(reasons...))
		}
		return out, nil
	}
	if len(asked) == 0 {
		return nil, errors.New("no GPU is named; nil means all")
	}
	for _, i := range asked {
		switch {
		case i < 0 || i >= len(all):
			return nil, fmt.Errorf("there is no GPU %d; there are 0 to %d", i, len(all)-1)
		case slices.Contains(out, i):
			return nil, fmt.Errorf("GPU %d is named twice", i)
		}
		if err := Usable(all[i]); err != nil {
			return nil, fmt.Errorf("GPU %d: %w", i, err)
		}
		if len(out) > 0 && !alike(out[0], i) {
			return nil, fmt.Errorf("GPUs %d and %d are of different compute capabilities, and would not compute the same to the last bit; use them apart", out[0], i)
		}
		out = append(out, i)
	}
	return out, nil
}

// DeviceError reports a failed GPU. It wraps train.ErrLost. Full memory is [ErrOutOfMemory] instead. The steps that
// a run took since its state was last read are lost. The GPU may work again in a new process.
type DeviceError struct {
	Device string
	Err    error
}

func (e *DeviceError) Error() string { return fmt.Sprintf("GPU %s failed: %v", e.Device, e.Err) }

// Unwrap returns train.ErrLost and the driver's error.
func (e *DeviceError) Unwrap() []error { return []error{engine.ErrLost, e.Err} }

// lost turns a device's error into a [DeviceError], unless only its memory is full.
func lost(d driver.Device, err error) error {
	full := errors.Is(err, driver.ErrOutOfMemory) && !errors.Is(err, driver.ErrFree)
	if err == nil || full || errors.As(err, new(*DeviceError)) {
		return err
	}
	return &DeviceError{d.Info().Name, err}
}
