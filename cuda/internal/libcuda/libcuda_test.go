package libcuda

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cuda/internal/driver"
	"github.com/dptrain/dptrain/cuda/internal/driver/drivertest"
)

// fake opens the fake driver.
func fake(t *testing.T) *Library {
	t.Helper()
	l, err := open("libnosuchthing.so", drivertest.Library(t))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestDriver(t *testing.T) { drivertest.Test(t, fake(t)) }

// Errors have the driver's texts.
func TestErrorsHaveTheDriversWords(t *testing.T) {
	l := fake(t)
	if _, err := l.Open(2); err == nil || err.Error() != "open device 2: cuDeviceGet: a fake error (CUDA_ERROR_FAKE)" {
		t.Errorf("no such device: %v", err)
	}
	d, err := l.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	_, err = d.Alloc(math.MaxInt32)
	var e *Error
	if !errors.As(err, &e) || e.Call != "cuMemAlloc" || e.Name != "CUDA_ERROR_OUT_OF_MEMORY" || e.Text != "out of memory" {
		t.Errorf("out of memory: %v", err)
	}
}

// Without a driver, or with one that is too old, the error says what to do.
func TestNoDriver(t *testing.T) {
	_, err := open("libnosuchthing.so")
	if !errors.Is(err, driver.ErrNoDriver) || !strings.Contains(err.Error(), "install NVIDIA's driver") {
		t.Errorf("no library: %v", err)
	}
	if _, err := open("libc.so.6"); !errors.Is(err, driver.ErrNoDriver) || !strings.Contains(err.Error(), "a driver for CUDA 11 or newer") {
		t.Errorf("not the driver's library: %v", err)
	}
}
