package drivertest

import (
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/dptrain/dptrain/cuda/internal/driver"
)

//go:embed testdata/fake.c
var source []byte

// Library compiles the fake driver and returns its path, a libcuda.so in a folder of its own. Without a C compiler the
// test is skipped.
func Library(t *testing.T) string {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler: the fake driver can't be built")
	}
	dir := t.TempDir()
	c, so := filepath.Join(dir, "fake.c"), filepath.Join(dir, "libcuda.so")
	if err := os.WriteFile(c, source, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(cc, "-shared", "-fPIC", "-O1", "-o", so, c).CombinedOutput(); err != nil {
		t.Fatalf("compile the fake driver: %v\n%s", err, out)
	}
	return so
}

// Devices returns the devices of the fake driver.
func Devices() []driver.Info {
	return []driver.Info{
		{Name: "Fake One", Driver: "12.4", Memory: 1 << 30, Multiprocessors: 132, Major: 9, Minor: 0},
		{Name: "Fake Two", Driver: "12.4", Memory: 2 << 30, Multiprocessors: 132, Major: 9, Minor: 1},
	}
}

// PTX returns a text that the fake driver accepts as a module with three kernels: add(p, n, x) adds the float64 x to
// the first n float32 at p, one in each thread; add_structs(i, where, by) adds i + by.x·by.times to the first where.n
// float32 at where.to; and nothing() does nothing.
func PTX() []byte { return []byte(".version 6.0 // add add_structs nothing") }
