//go:build cu

package cu

import (
	"errors"
	"math"
	"testing"

	"gorgonia.org/cu"

	"github.com/dptrain/dptrain/cuda/internal/driver/drivertest"
)

// needFake skips tests on a real driver, which has no such kernels.
func needFake(t *testing.T) {
	t.Helper()
	all, err := System{}.Devices()
	if err == nil && len(all) > 0 && all[0].Name != drivertest.Devices()[0].Name {
		t.Skip("this is not the fake driver; the test without the tag builds and runs this one with it")
	}
}

func TestDriver(t *testing.T) {
	needFake(t)
	drivertest.Test(t, System{})
}

// Errors keep gorgonia.org/cu's code.
func TestErrorsHaveCodes(t *testing.T) {
	needFake(t)
	d, err := System{}.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	_, err = d.Alloc(math.MaxInt32)
	var e *Error
	if !errors.As(err, &e) || e.Call != "cuMemAlloc" || !errors.Is(err, cu.OutOfMemory) {
		t.Errorf("out of memory: %v", err)
	}
}
