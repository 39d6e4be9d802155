//go:build !cu

package cu_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cuda/internal/driver/drivertest"
)

// The tag's tests and the command are built with CUDA's headers, and run with the fake driver in place of the
// machine's. A process has one driver, so this process can't run them.
func TestWithTheTag(t *testing.T) {
	library := drivertest.Library(t)
	dir := filepath.Dir(library)
	if err := os.Symlink(library, filepath.Join(dir, "libcuda.so.1")); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "env", "CGO_ENABLED").Output(); err != nil || strings.TrimSpace(string(out)) != "1" {
		t.Skip("cgo is off, which gorgonia.org/cu needs")
	}
	environment := append(os.Environ(),
		// The fake driver has few of the functions that gorgonia.org/cu calls. The linker accepts that, and so does the
		// loader until a missing one is called.
		"CGO_LDFLAGS="+os.Getenv("CGO_LDFLAGS")+" -Wl,--unresolved-symbols=ignore-all -Wl,-z,lazy",
		// Linked with the machine's driver or stub if there is one. It isn't a flag, since flags are part of what the
		// go command caches builds by.
		"LIBRARY_PATH="+dir+":"+os.Getenv("LIBRARY_PATH"),
		"LD_LIBRARY_PATH="+dir,
	)
	run := func(name string, arguments ...string) (string, error) {
		c := exec.Command(name, arguments...)
		c.Env = environment
		out, err := c.CombinedOutput()
		return string(out), err
	}

	tests := filepath.Join(dir, "cu.test")
	out, err := run("go", "test", "-c", "-tags", "cu", "-o", tests)
	switch {
	case err == nil:
	case strings.Contains(out, "cuda.h: No such file") || strings.Contains(out, "'cuda.h' file not found"):
		t.Skip("no cuda.h where gorgonia.org/cu looks for it: CUDA's headers aren't installed")
	case strings.Contains(out, "cuCtxCreate_v4"):
		t.Skip("the headers are those of CUDA 13 or newer, with which gorgonia.org/cu doesn't compile")
	default:
		t.Fatalf("build the tests: %v\n%s", err, out)
	}
	if out, err := run(tests, "-test.v"); err != nil || !strings.Contains(out, "--- PASS: TestDriver") {
		t.Errorf("run the tests: %v\n%s", err, out)
	}

	command := filepath.Join(dir, "dptrain")
	if out, err := run("go", "build", "-tags", "cu", "-o", command, "github.com/dptrain/dptrain/cmd/dptrain"); err != nil {
		t.Fatalf("build the command: %v\n%s", err, out)
	}
	if out, err := run(command, "--help"); err != nil {
		t.Errorf("run the command: %v\n%s", err, out)
	}
}
