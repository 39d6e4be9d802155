package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// environment returns the path of the Python that python/environment makes.
func environment(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "build", "python", "bin", "python"))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// python returns a Python that has a module, or skips the test. Debian's modules belong to /usr/bin/python3, which
// another python3 may hide.
func python(t *testing.T, module string) string {
	t.Helper()
	for _, name := range []string{environment(t), "python3", "/usr/bin/python3"} {
		if path, err := exec.LookPath(name); err == nil && exec.Command(path, "-c", "import "+module).Run() == nil {
			return path
		}
	}
	t.Skipf("no python3 with %s: python/environment makes one with NumPy, scikit-learn and ONNX Runtime", module)
	return ""
}

// The tests of the Python package run, on models that this program releases and on what it predicts with them.
func TestPythonPackage(t *testing.T) {
	interpreter := python(t, "numpy")
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	dir := t.TempDir()
	for _, f := range fixtures() {
		to := filepath.Join(dir, f.name)
		if err := os.CopyFS(to, os.DirFS(f.write(t))); err != nil {
			t.Fatal(err)
		}
		name, contents := "computed.json", []byte(nil)
		if f.table != nil {
			name, contents = "predicted.json", []byte(output(t, "predict", to, file(t, f.rows), "--json"))
			if err := os.WriteFile(filepath.Join(to, "rows.csv"), []byte(f.rows), 0o644); err != nil {
				t.Fatal(err)
			}
		} else {
			var err error
			if contents, err = json.Marshal(f.compute(t, to, 5)); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(to, name), contents, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	earlier, err := filepath.Abs(filepath.Join("..", "internal", "release", "testdata"))
	if err != nil {
		t.Fatal(err)
	}
	binary, err := exec.LookPath("dptrain") // that of the scripts: this program
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), interpreter, "-B", "-m", "unittest", "discover", "-v", "-s", "tests")
	cmd.Dir = t.TempDir()
	// What go test reads itself is part of its cache's key, so a changed package is tested again.
	if err := os.CopyFS(cmd.Dir, os.DirFS(filepath.Join("..", "..", "python"))); err != nil {
		t.Fatal(err)
	}
	cmd.Env = append(os.Environ(), "DPTRAIN="+binary, "DPTRAIN_FIXTURES="+dir, "DPTRAIN_EARLIER="+earlier, "DPTRAIN_STORE="+filepath.Join(dir, "store"), "OMP_NUM_THREADS=1")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, text)
	} else if _, err := os.Stat(environment(t)); err == nil && bytes.Contains(text, []byte("no scikit-learn")) {
		t.Errorf("there is build/python, and tests of scikit-learn were skipped\n%s", text)
	} else {
		t.Logf("%s", text)
	}
}
