package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// python returns a Python that has a module, or skips the test: that of python/environment, or one of the system's.
// Debian's modules are those of /usr/bin/python3, which another python3 may hide.
func python(t *testing.T, module string) string {
	t.Helper()
	for _, name := range []string{filepath.Join("..", "..", "build", "python", "bin", "python"), "python3", "/usr/bin/python3"} {
		if path, err := exec.LookPath(name); err == nil && exec.Command(path, "-c", "import "+module).Run() == nil {
			absolute, err := filepath.Abs(path) // a command may run in another folder
			if err != nil {
				t.Fatal(err)
			}
			return absolute
		}
	}
	t.Skipf("no python3 with %s", module)
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
	earlier, err := filepath.Abs(filepath.Join("..", "..", "internal", "report", "testdata"))
	if err != nil {
		t.Fatal(err)
	}
	binary, err := exec.LookPath("dptrain") // that of the scripts: this program
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), interpreter, "-B", "-m", "unittest", "discover", "-s", "tests")
	cmd.Dir = filepath.Join("..", "..", "python")
	cmd.Env = append(os.Environ(), "DPTRAIN="+binary, "DPTRAIN_FIXTURES="+dir, "DPTRAIN_EARLIER="+earlier, "DPTRAIN_STORE="+filepath.Join(dir, "store"), "OMP_NUM_THREADS=1")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, text)
	} else {
		t.Logf("%s", text)
	}
}
