package drivertest

import (
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dptrain/dptrain/cuda/internal/driver"
)

// Test tests an implementation of the interface on the fake driver that [Library] makes.
func Test(t *testing.T, s driver.System) {
	for _, c := range []struct {
		name string
		test func(*testing.T, driver.System)
	}{
		{"devices", devices},
		{"memory and launches", memoryAndLaunches},
		{"numbers of every place", places},
		{"goroutines", goroutines},
		{"refusals", refusals},
		{"logs", logs},
		{"closing", closing},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, s) })
	}
}

func devices(t *testing.T, s driver.System) {
	got, err := s.Devices()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Devices(), got); diff != "" {
		t.Error(diff)
	}
}

func open(t *testing.T, s driver.System, ordinal int) driver.Device {
	t.Helper()
	d, err := s.Open(ordinal, PTX())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return d
}

func memoryAndLaunches(t *testing.T, s driver.System) {
	d := open(t, s, 1)
	if diff := cmp.Diff(Devices()[1], d.Info()); diff != "" {
		t.Error(diff)
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
	where := struct {
		to        driver.Pointer
		n, unused int32
		zeros     [13]float64
	}{to: p, n: 4}
	by := struct {
		x     float64
		times int64
	}{0.25, 4}
	if err := d.Launch("add_structs", 1, 8, int32(7), driver.StructOf(&where), driver.StructOf(&by)); err != nil {
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
	if diff := cmp.Diff([]float32{9.5, 0, 11.5, 12, 9}, got); diff != "" {
		t.Error(diff)
	}
	if err := d.Free(p); err != nil {
		t.Error(err)
	}
}

// Numbers may be none or many, and may be beside Go pointers, which cgo doesn't pass to C.
func places(t *testing.T, s driver.System) {
	d := open(t, s, 0)
	many := make([]int64, 1<<18+3) // 2 MB
	for i := range many {
		many[i] = int64(i) * math.MaxInt32
	}
	type field struct {
		pointer *int
		numbers [4]int64
	}
	from, to := &field{new(int), [4]int64{1, 2, 3, 4}}, &field{new(int), [4]int64{}}
	for _, c := range []struct{ from, to []int64 }{
		{nil, nil},
		{many, make([]int64, len(many))},
		{from.numbers[:], to.numbers[:]},
	} {
		p, err := driver.New(d, c.from)
		if err != nil {
			t.Fatalf("%d numbers: %v", len(c.from), err)
		}
		if err := driver.Download(d, c.to, p, 0); err != nil {
			t.Fatalf("%d numbers: %v", len(c.from), err)
		}
		if !slices.Equal(c.from, c.to) {
			t.Errorf("%d numbers came back changed", len(c.from))
		}
		if err := d.Free(p); err != nil {
			t.Error(err)
		}
	}
}

// A context belongs to a thread, and goroutines change threads. One's calls must not affect another's results.
func goroutines(t *testing.T, s driver.System) {
	d := open(t, s, 0)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			p, err := d.Alloc(8)
			if err != nil {
				t.Error(err)
				return
			}
			x, got := float32(i), make([]float32, 2)
			for range 500 {
				err := errors.Join(
					driver.Upload(d, p, 0, []float32{x, x}),
					d.Launch("add", 1, 2, p, int32(2), 0.25),
					driver.Download(d, got, p, 0),
				)
				if err != nil || got[0] != x+0.25 || got[1] != x+0.25 {
					t.Errorf("got %v, error %v; want %v twice", got, err, x+0.25)
					return
				}
			}
			if err := d.Free(p); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// Each refusal of the driver is an error that names the request.
func refusals(t *testing.T, s driver.System) {
	if _, err := s.Open(2); err == nil || !strings.Contains(err.Error(), "open device 2: cuDeviceGet: ") {
		t.Errorf("no such device: %v", err)
	}
	if _, err := s.Open(0, PTX(), []byte("text")); err == nil || !strings.Contains(err.Error(), "line 1; fatal: not PTX") {
		t.Errorf("no PTX: %v", err)
	}
	d := open(t, s, 0)
	_, err := d.Alloc(math.MaxInt32)
	if !errors.Is(err, driver.ErrOutOfMemory) || !strings.Contains(err.Error(), "allocate 2147483647 bytes on device 0: cuMemAlloc: ") {
		t.Errorf("out of memory: %v", err)
	}
	if p, err := d.Alloc(8); err != nil {
		t.Errorf("after that: %v", err)
	} else if err := d.Free(p); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		kernel          string
		blocks, threads int
		args            []any
		want            string
	}{
		{"subtract", 1, 1, nil, "launch subtract on device 0: there is no such kernel"},
		{"nothing", 1, 1025, nil, "launch nothing on device 0: cuLaunchKernel: "},
		{"nothing", 0, 1, nil, "launch nothing on device 0: cuLaunchKernel: "},
		{"add", 1, 1, []any{7}, "launch add: argument 0 is of type int"},
	} {
		err := d.Launch(c.kernel, c.blocks, c.threads, c.args...)
		if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, driver.ErrOutOfMemory) {
			t.Errorf("%s: %v, want %q", c.kernel, err, c.want)
		}
	}
}

// The driver writes its log to memory that must not move, even if a goroutine's stack grows and moves meanwhile, as it
// does at some of these depths.
func logs(t *testing.T, s driver.System) {
	lost := 0
	for depth := range 500 {
		var done sync.WaitGroup
		done.Go(func() {
			at(depth, func() {
				if _, err := s.Open(0, []byte("text")); err == nil || !strings.Contains(err.Error(), "line 1; fatal: not PTX") {
					lost++
				}
			})
		})
		done.Wait()
	}
	if lost > 0 {
		t.Errorf("of 500 logs %d were lost", lost)
	}
}

// at calls f from a depth of the stack.
func at(depth int, f func()) {
	var frame [64]byte
	if depth == 0 {
		f()
		return
	}
	frame[depth%len(frame)] = byte(depth)
	at(depth-1, f)
	runtime.KeepAlive(&frame)
}

// A device that was opened twice is closed twice, and stays closed. The refusals above closed a device that wasn't
// fully opened.
func closing(t *testing.T, s driver.System) {
	d, other := open(t, s, 0), open(t, s, 0)
	for range 2 {
		if err := d.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	_, err := d.Alloc(1)
	for name, err := range map[string]error{
		"alloc": err, "free": d.Free(8), "clear": d.Clear(8, 0, 1), "synchronize": d.Synchronize(),
		"upload": d.Upload(8, 0, []byte{1}), "download": d.Download([]byte{0}, 8, 0), "launch": d.Launch("nothing", 1, 1),
	} {
		if err == nil || !strings.Contains(err.Error(), "the device is closed") {
			t.Errorf("%s after closing: %v", name, err)
		}
	}
	if err := other.Synchronize(); err != nil {
		t.Errorf("the other one: %v", err)
	}
}
