package main

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/datasets/table"
)

// snippet returns the Python between two markers of docs/model-format.md.
func snippet(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "model-format.md"))
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(text), "<!-- "+name+" -->")
	if len(parts) != 3 {
		t.Fatalf("docs/model-format.md has %d markers %s, want 2", len(parts)-1, name)
	}
	code, ok := strings.CutPrefix(strings.TrimSpace(parts[1]), "```python\n")
	if !ok {
		t.Fatalf("no Python between the markers %s", name)
	}
	return strings.TrimSuffix(code, "```")
}

// The readers in docs/model-format.md predict what dptrain predicts.
func TestPythonReaders(t *testing.T) {
	f := fixture{"readers", release.Model{Network: "mlp:6,5", Temperature: 1.5}, &table.Schema{
		Label: table.Label{Name: "died", Task: table.Classification, Classes: []string{"no", "yes", "?"}},
		Columns: []table.Column{
			{Name: "age", Clip: &table.Range{Low: 20, High: 80}, Scale: &table.Scale{Shift: 50, Divisor: 10}},
			{Name: "sex", Categories: []string{"F", "M"}},
			{Name: "kappa", Clip: &table.Range{Low: 0, High: 2}, Scale: &table.Scale{Shift: 1, Divisor: 0.5}},
		},
		Shape: []int{4},
	}, "kappa,sex,age,id\n0.5,M,33,1\n7,F,95.5,2\n-1,F,20,3\n1.25,M,61,4\n"}
	dir := t.TempDir()
	released := filepath.Join(dir, "released")
	if err := os.CopyFS(released, os.DirFS(f.write(t))); err != nil {
		t.Fatal(err)
	}
	rows := filepath.Join(dir, "new.csv")
	if err := os.WriteFile(rows, []byte(f.rows), 0o644); err != nil {
		t.Fatal(err)
	}
	var want []prediction
	if err := json.Unmarshal([]byte(output(t, "predict", released, rows, "--json")), &want); err != nil {
		t.Fatal(err)
	}

	run := func(t *testing.T, module, program string) []byte {
		cmd := exec.CommandContext(t.Context(), python(t, module), "-B", "-c", program)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "OMP_NUM_THREADS=1")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return out
	}
	t.Run("numpy", func(t *testing.T) {
		var classes []string
		text := strings.ReplaceAll(string(run(t, "numpy", snippet(t, "numpy"))), "'", `"`)
		if err := json.Unmarshal([]byte(text), &classes); err != nil || len(classes) != len(want) {
			t.Fatalf("printed %s, %v", text, err)
		}
		for i, p := range want {
			if classes[i] != *p.Class {
				t.Errorf("row %d is %s, and %s by dptrain", i, classes[i], *p.Class)
			}
		}
	})
	t.Run("pytorch", func(t *testing.T) {
		var shares [][]float64
		text := run(t, "torch", snippet(t, "numpy")+snippet(t, "pytorch")+"print(json.dumps(probabilities.tolist()))")
		text = text[bytes.IndexByte(text, '\n')+1:] // the first line is the other program's
		if err := json.Unmarshal(text, &shares); err != nil || len(shares) != len(want) {
			t.Fatalf("printed %s, %v", text, err)
		}
		for i, p := range want {
			for k, class := range f.table.Label.Classes {
				if math.Abs(shares[i][k]-p.Probabilities[class]) > 1e-6 {
					t.Errorf("row %d: %s has %v, and %v by dptrain", i, class, shares[i][k], p.Probabilities[class])
				}
			}
		}
	})
}
