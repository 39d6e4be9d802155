package libcuda

import (
	"errors"
	"math"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cuda/internal/driver"
)

// fake opens the driver of testdata/fake.c.
func fake(t *testing.T) *Library {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler: the fake driver can't be built")
	}
	so := filepath.Join(t.TempDir(), "libfake.so")
	if out, err := exec.Command(cc, "-shared", "-fPIC", "-O1", "-o", so, "testdata/fake.c").CombinedOutput(); err != nil {
		t.Fatalf("compile the fake driver: %v\n%s", err, out)
	}
	l, err := open("libnosuchthing.so", so)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestDevices(t *testing.T) {
	got, err := fake(t).Devices()
	if err != nil {
		t.Fatal(err)
	}
	want := []driver.Info{
		{Name: "Fake One", Driver: "12.4", Memory: 1 << 30, Multiprocessors: 132, Major: 9, Minor: 0},
		{Name: "Fake Two", Driver: "12.4", Memory: 2 << 30, Multiprocessors: 132, Major: 9, Minor: 1},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

var ptx = []byte(".version 6.0 // add nothing")

func TestMemoryAndLaunches(t *testing.T) {
	d, err := fake(t).Open(1, ptx)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if d.Info().Name != "Fake Two" || d.Info().Multiprocessors != 132 {
		t.Errorf("opened %q, %+v", d.Info().Name, d.Info())
	}
	p, err := driver.New(d, []float32{1, 2, 3, 4, 5})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Launch("add", 2, 2, p, int32(3), 0.5); err != nil {
		t.Fatal(err)
	}
	if err := d.Launch("nothing", 1, 1); err != nil {
		t.Fatal(err)
	}
	if err := d.Clear(p, 4, 4); err != nil {
		t.Fatal(err)
	}
	if err := driver.Upload(d, p, 4, []float32{9}); err != nil {
		t.Fatal(err)
	}
	if err := d.Synchronize(); err != nil {
		t.Fatal(err)
	}
	got := make([]float32, 5)
	if err := driver.Download(d, got, p, 0); err != nil {
		t.Fatal(err)
	}
	if want := []float32{1.5, 0, 3.5, 4, 9}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if err := d.Free(p); err != nil {
		t.Error(err)
	}
}

// Whatever the driver refuses is an error that names what was asked for, and why.
func TestErrors(t *testing.T) {
	l := fake(t)
	if _, err := l.Open(2); err == nil || !strings.Contains(err.Error(), "open device 2: cuDeviceGet: a fake error (CUDA_ERROR_FAKE)") {
		t.Errorf("no such device: %v", err)
	}
	if _, err := l.Open(0, ptx, []byte("text")); err == nil || !strings.Contains(err.Error(), "line 1; fatal: not PTX") {
		t.Errorf("no PTX: %v", err)
	}
	d, err := l.Open(0, ptx)
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.Alloc(math.MaxInt32)
	var e *Error
	if !errors.Is(err, driver.ErrOutOfMemory) || !errors.As(err, &e) || e.Call != "cuMemAlloc" || !strings.Contains(err.Error(), "allocate 2147483647 bytes on device 0") {
		t.Errorf("out of memory: %v", err)
	}
	for _, c := range []struct {
		kernel          string
		blocks, threads int
		args            []any
		want            string
	}{
		{"subtract", 1, 1, nil, "launch subtract on device 0: there is no such kernel"},
		{"nothing", 1, 1025, nil, "launch nothing on device 0: cuLaunchKernel: a fake error"},
		{"nothing", 0, 1, nil, "launch nothing on device 0: cuLaunchKernel"},
		{"add", 1, 1, []any{7}, "launch add: argument 0 is of type int"},
	} {
		if err := d.Launch(c.kernel, c.blocks, c.threads, c.args...); err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, driver.ErrOutOfMemory) {
			t.Errorf("%s: %v, want %q", c.kernel, err, c.want)
		}
	}
	if err := d.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if err := d.Synchronize(); err == nil || err.Error() != "the device is closed" {
		t.Errorf("after closing: %v", err)
	}
	if err := d.Close(); err == nil {
		t.Error("closed twice")
	}
}

// Where there is no driver, or one that is too old, the error says what to do.
func TestNoDriver(t *testing.T) {
	_, err := open("libnosuchthing.so")
	if !errors.Is(err, driver.ErrNoDriver) || !strings.Contains(err.Error(), "install NVIDIA's driver") {
		t.Errorf("no library: %v", err)
	}
	if _, err := open("libc.so.6"); !errors.Is(err, driver.ErrNoDriver) || !strings.Contains(err.Error(), "a driver for CUDA 11 or newer") {
		t.Errorf("not the driver's library: %v", err)
	}
}
