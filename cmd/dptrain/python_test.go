package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
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

// The judge of the paper's claims agrees with R.
func TestJudge(t *testing.T) {
	interpreter := environment(t)
	if _, err := os.Stat(interpreter); err != nil || testing.Short() {
		t.Skip("no build/python, or -short")
	}
	cmd := exec.CommandContext(t.Context(), interpreter, "-B", "-m", "unittest", "-v", "test_judge")
	cmd.Dir = t.TempDir() // as above
	if err := os.CopyFS(cmd.Dir, os.DirFS(filepath.Join("..", "..", "bench", "reproduction"))); err != nil {
		t.Fatal(err)
	}
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
}

// A wheel is all that a Python environment needs: it has the command, which the package finds though it isn't in $PATH.
func TestPythonWheel(t *testing.T) {
	interpreter := environment(t)
	if _, err := os.Stat(interpreter); err != nil || testing.Short() {
		t.Skip("no build/python, or -short")
	}
	run := func(env []string, name string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Env = append(os.Environ(), env...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %q: %v\n%s", name, args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	program, err := exec.LookPath("dptrain")
	if err != nil {
		t.Fatal(err)
	}
	licence := filepath.Join("..", "..", "LICENSE")
	for from, to := range map[string]string{program: "dptrain", licence: "LICENSE", filepath.Join("..", "..", "go.mod"): "licenses/some module@v1/NOTICE"} {
		text, err := os.ReadFile(from)
		if err := errors.Join(err, os.MkdirAll(filepath.Dir(in(to)), 0o755), os.WriteFile(in(to), text, 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	run(nil, interpreter, filepath.Join("..", "..", "release", "wheel"), dir, runtime.GOOS+"/"+runtime.GOARCH, "v1.2.3-rc.1", dir)
	wheels, err := filepath.Glob(in("dptrain-1.2.3rc1-py3-none-*.whl"))
	if err != nil || len(wheels) != 1 {
		t.Fatalf("%q, %v", wheels, err)
	}
	run(nil, interpreter, "-m", "venv", "--without-pip", in("fresh"))
	fresh := in("fresh/bin/python")
	run(nil, interpreter, "-m", "pip", "--python", fresh, "install", "--quiet", "--no-index", "--no-deps", "--disable-pip-version-check", wheels[0])
	numpy := run(nil, interpreter, "-c", "import numpy, os; print(os.path.dirname(os.path.dirname(numpy.__file__)))")
	const session = `
import dptrain, numpy, os
X = numpy.random.default_rng(1).uniform(-1, 1, (300, 2))
settings = {"training.learning_rate": 0.1, "privacy.accounting": "paper"}
model = dptrain.DPClassifier(8, 1e-3, bounds=(-1, 1), classes=[0, 1], tune=False, settings=settings).fit(X, (X[:, 0] > 0) * 1)
print(dptrain.__version__, os.path.relpath(dptrain.find_command(), os.environ["FRESH"]), model.score(X, X[:, 0] > 0) > 0.9)
`
	env := []string{"PATH=", "PYTHONPATH=" + numpy, "PYTHONWARNINGS=ignore", "FRESH=" + in("fresh"), "DPTRAIN_STORE=" + in("store")}
	if got, want := run(env, fresh, "-c", session), "1.2.3rc1 bin/dptrain True"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := run(env, fresh, "-m", "dptrain", "version"); !strings.HasPrefix(got, "dptrain ") {
		t.Errorf("python -m dptrain version: %s", got)
	}
}
