package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/term"
	"github.com/dptrain/dptrain/datasets/table"
	"github.com/dptrain/dptrain/internal/safetensors"
)

// writeReleased writes a released linear model whose parameters are known.
func writeReleased(t *testing.T, m release.Model, s table.Schema, weights, bias []float32) (dir string) {
	t.Helper()
	input, err := json.Marshal(map[string]*table.Schema{"table": &s})
	if err != nil {
		t.Fatal(err)
	}
	m.Version = max(m.Version, 1)
	m.Dataset, m.Network, m.Shape, m.Outputs, m.Input = "files", "linear", s.Shape, s.Outputs(), input
	m.Activation = release.Activation{Scale: 2, Temperature: 2, Offset: 1}
	parameters, err := safetensors.Encode([]safetensors.Tensor{
		{Name: "fc1.weight", Shape: []int{len(weights) / len(bias), len(bias)}, Data: weights},
		{Name: "fc1.bias", Shape: []int{1, len(bias)}, Data: bias},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	model, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(t.TempDir(), "released")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, contents := range map[string][]byte{"model.json": model, "model.safetensors": parameters} {
		if err := os.WriteFile(filepath.Join(dir, name), contents, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func file(t *testing.T, contents string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(path, []byte(contents), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// output runs a command that must succeed.
func output(t *testing.T, args ...string) string {
	t.Helper()
	var out, complaints bytes.Buffer
	if code := execute(context.Background(), args, &out, &complaints, false); code != term.CodeOK {
		t.Fatalf("%v: exit code %d, %s", args, code, complaints.String())
	}
	return out.String()
}

// near reports whether a printed number is the wanted one, to the printed digits.
func near(t *testing.T, text string, want float64) bool {
	t.Helper()
	got, err := strconv.ParseFloat(text, 64)
	return err == nil && math.Abs(got-want) <= 2e-5*math.Abs(want)
}

// A class that is looked up by a wrong index is another one in every row: green rows are maybe, red ones no, and old
// ones yes. The file's columns are in another order than the schema's. Expected values are computed by hand.
func TestPredictAndEvaluateClasses(t *testing.T) {
	classes := []string{"no", "maybe", "yes"}
	schema := table.Schema{
		Label: table.Label{Name: "answer", Task: table.Classification, Classes: classes},
		Columns: []table.Column{
			{Name: "colour", Categories: []string{"green", "red"}},
			{Name: "age", Clip: &table.Range{Low: 0, High: 200}, Scale: &table.Scale{Shift: 50, Divisor: 25}},
		},
		Shape: []int{3},
	}
	dir := writeReleased(t, release.Model{Task: release.Classification, Classes: classes}, schema, []float32{
		0, 5, 0, // green
		4, 0, 0, // red
		0, 0, 1, // age
	}, []float32{0, 0, -0.5})
	rows := file(t, "age,answer,colour\n50,no,green\n50,no,red\n300,yes,red\n50,yes,green\n")
	logits := [][]float64{{0, 5, -0.5}, {4, 0, -0.5}, {4, 0, 5.5}, {0, 5, -0.5}}

	records, err := csv.NewReader(strings.NewReader(output(t, "predict", dir, rows))).ReadAll()
	if err != nil || len(records) != 5 || strings.Join(records[0], " ") != "row answer p(no) p(maybe) p(yes)" {
		t.Fatalf("%v, %v", records, err)
	}
	var predicted []struct {
		Row           int
		Class         string
		Probabilities map[string]float64
	}
	if err := json.Unmarshal([]byte(output(t, "predict", dir, rows, "--json")), &predicted); err != nil || len(predicted) != 4 {
		t.Fatalf("%+v, %v", predicted, err)
	}
	for i, want := range []string{"maybe", "no", "yes", "maybe"} {
		record, p := records[i+1], predicted[i]
		if record[0] != strconv.Itoa(i+1) || record[1] != want || p.Row != i+1 || p.Class != want || len(p.Probabilities) != 3 {
			t.Errorf("row %d is %v and %+v, want %s", i+1, record, p, want)
		}
		sum := 0.0
		for _, v := range logits[i] {
			sum += math.Exp(v)
		}
		for k, v := range logits[i] {
			share := math.Exp(v) / sum
			if !near(t, record[2+k], share) || math.Abs(p.Probabilities[classes[k]]-share) > 1e-6 {
				t.Errorf("row %d: %s has %s and %v, want %v", i+1, classes[k], record[2+k], p.Probabilities[classes[k]], share)
			}
		}
	}

	var e evaluated
	if err := json.Unmarshal([]byte(output(t, "evaluate", dir, rows, "--json")), &e); err != nil {
		t.Fatal(err)
	}
	want := []release.EvaluatedClass{{Class: "no", Rows: 2, Right: 1, Predicted: 1}, {Class: "maybe", Rows: 0, Right: 0, Predicted: 2}, {Class: "yes", Rows: 2, Right: 1, Predicted: 1}}
	if e.Rows != 4 || e.Accuracy == nil || *e.Accuracy != 0.5 || len(e.Classes) != 3 || e.Classes[0] != want[0] || e.Classes[1] != want[1] || e.Classes[2] != want[2] {
		t.Errorf("%+v, want %+v", e, want)
	}
	if text := output(t, "evaluate", dir, rows); !strings.Contains(text, "50.00 %") {
		t.Errorf("printed %s", text)
	}
}

// A temperature of 2 halves the logits, and changes no class.
func TestPredictTakesTheTemperature(t *testing.T) {
	classes := []string{"no", "yes"}
	schema := table.Schema{
		Label:   table.Label{Name: "y", Task: table.Classification, Classes: classes},
		Columns: []table.Column{{Name: "x"}}, Shape: []int{1},
	}
	dir := writeReleased(t, release.Model{Version: 2, Temperature: 2, Task: release.Classification, Classes: classes}, schema, []float32{0, 4}, []float32{0, -2})
	records, err := csv.NewReader(strings.NewReader(output(t, "predict", dir, file(t, "x\n0\n1\n")))).ReadAll()
	if err != nil || len(records) != 3 {
		t.Fatalf("%v, %v", records, err)
	}
	for i, want := range []struct {
		class string
		yes   float64
	}{{"no", 1 / (1 + math.E)}, {"yes", 1 / (1 + 1/math.E)}} { // logits of yes: -2 and 2
		if r := records[i+1]; r[1] != want.class || !near(t, r[3], want.yes) || !near(t, r[2], 1-want.yes) {
			t.Errorf("row %d: %v, want %v", i+1, r, want)
		}
	}
}

// Numbers come out, and are compared, in the unit of the file; labels are clipped in training alone. Two outputs, 110
// and 150, for labels of 110 and 190.
func TestPredictAndEvaluateNumbers(t *testing.T) {
	schema := table.Schema{
		Label:   table.Label{Name: "y", Task: table.Regression, Clip: &table.Range{Low: 0, High: 150}, Scale: &table.Scale{Shift: 100, Divisor: 10}},
		Columns: []table.Column{{Name: "x", Scale: &table.Scale{Shift: 10, Divisor: 5}}},
		Shape:   []int{1},
	}
	dir := writeReleased(t, release.Model{Task: release.Regression}, schema, []float32{2}, []float32{1})
	rows := file(t, "y,x\n110,10\n190,20\n")
	if got := output(t, "predict", dir, rows); got != "row,y\n1,110\n2,150\n" {
		t.Errorf("predicted %q", got)
	}
	var e evaluated
	if err := json.Unmarshal([]byte(output(t, "evaluate", dir, rows, "--json")), &e); err != nil || e.RootMeanSquare == nil || e.MeanAbsolute == nil || e.R2 == nil {
		t.Fatalf("%+v, %v", e, err)
	}
	if e.Rows != 2 || math.Abs(*e.RootMeanSquare-math.Sqrt(800)) > 1e-4 || math.Abs(*e.MeanAbsolute-20) > 1e-4 || math.Abs(*e.R2-0.5) > 1e-6 {
		t.Errorf("%v, %v, %v, want √800, 20 and 0.5", *e.RootMeanSquare, *e.MeanAbsolute, *e.R2)
	}
}
