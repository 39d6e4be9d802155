package release

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/train"
)

// A released curve is a table and its pictures; without one there are no such files. The statement describes it.
func TestWriteCurve(t *testing.T) {
	r := example()
	r.Privacy.Tuning, r.Hyperparameters.TunedLearningRate = nil, nil
	r.Curve = &Curve{Points: []train.Point{{Step: 0, Score: 0.1}, {Step: 10, Score: 0.62500000001}, {Step: 15, Score: 0.9}}, Epsilons: []float64{0, 0.3, 1e-17}}
	dir := t.TempDir()
	if err := r.Write(dir); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "curve.csv"))
	if want := "step,score,epsilon\n0,0.1,0\n10,0.62500000001,0.3\n15,0.9,1e-17\n"; err != nil || string(text) != want {
		t.Errorf("curve.csv is %q, want %q", text, want)
	}
	picture, err := os.ReadFile(filepath.Join(dir, "curve.png"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := png.Decode(bytes.NewReader(picture)); err != nil {
		t.Error(err)
	}
	if svg, err := os.ReadFile(filepath.Join(dir, "curve.svg")); err != nil || !strings.Contains(string(svg), "<svg") {
		t.Errorf("curve.svg: %v", err)
	}
	if statement, _ := os.ReadFile(filepath.Join(dir, "STATEMENT.md")); !strings.Contains(string(statement), "accuracy on the test set after 3 of the run's steps") {
		t.Errorf("the statement doesn't have the curve:\n%s", statement)
	}
	if got, err := ParseCurve(text); err != nil || !reflect.DeepEqual(got, r.Curve) {
		t.Errorf("read back %+v, %v", got, err)
	}

	r.Curve, dir = nil, t.TempDir()
	if err := r.Write(dir); err != nil {
		t.Fatal(err)
	}
	if some, _ := filepath.Glob(filepath.Join(dir, "curve*")); len(some) > 0 {
		t.Errorf("%v without a curve", some)
	}
}

var wrongCurves = []string{
	"", "step,score\n", "score,step\n1,2\n", "step,score\n1\n", "step,score\n1,2,3\n", "step,score\n-1,0.5\n", "step,score\n1.5,0.5\n",
	"step,score\n5,0.5\n5,0.6\n", "step,score\n5,0.5\n4,0.6\n", "step,score\n1,NaN\n", "step,score,epsilon\n1,0.5,Inf\n", "step,score\n1,\"\n",
	"step,score\n4294967296,0.5\n",
}

func TestParseCurveRefuses(t *testing.T) {
	for _, text := range wrongCurves {
		if c, err := ParseCurve([]byte(text)); err == nil {
			t.Errorf("%q is read as %+v", text, c)
		}
	}
}

// A parsed curve can be written, and is the same when parsed again.
func FuzzParseCurve(f *testing.F) {
	for _, text := range append(slices.Clone(wrongCurves), "step,score\n0,0.5\n7,-1e300\n", "step,score,epsilon\n1,0.5,3\n") {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := ParseCurve(text)
		if err != nil || len(c.Points) > 50 {
			return
		}
		files, err := c.files(train.R2)
		if err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		again, err := ParseCurve(files["curve.csv"])
		if err != nil || !reflect.DeepEqual(again, c) {
			t.Fatalf("%+v became %+v, %v", c, again, err)
		}
	})
}
