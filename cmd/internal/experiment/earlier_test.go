package experiment

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/train"
)

// A released folder for each format that a version wrote. Never change them: later versions read earlier ones.
var earlier = filepath.Join("..", "release", "testdata")

// The expected outputs are from outputs.py, beside the folders, which computes them in double precision.
func TestOpensWhatEarlierVersionsReleased(t *testing.T) {
	temperatures := map[string]float64{"released-1": 1, "released-2": 1.658, "released-3": 1.604}
	for folder, want := range map[string][3][10]float64{
		"released-1": {
			{-1.969204, 2.383818, 0.604855, 1.413483, 0.872782, 0.741395, -0.273396, 2.041567, 0.542665, -0.979522},
			{1.506094, -1.088033, 0.500215, -1.140947, -0.46928, -1.143806, -0.202717, -1.118862, 0.420051, -1.273644},
			{1.153829, -0.151657, -0.981077, 0.08401, -0.479927, 0.061698, 0.028988, 0.816915, -1.109545, -0.604313},
		},
		"released-2": {
			{-2.034186, -0.51158, 0.978815, 1.357921, 0.116421, -0.918305, 0.610402, 1.357106, 0.656151, 0.826524},
			{-0.129081, -0.074602, -0.504608, 0.590753, -0.028114, 1.413485, -0.358884, 0.307726, -0.738687, -0.226488},
			{-0.199015, -1.418774, -0.833396, -1.313973, 0.55288, -1.440412, 0.241144, -0.633794, 0.416206, -1.526556},
		},
		"released-3": {
			{0.585355, 0.766197, 1.712888, 0.543584, 1.146365, -0.209294, -1.661946, -0.965285, 0.633092, -0.240791},
			{1.38866, -0.690653, -0.186742, -2.379308, 0.439779, -0.010454, -0.038185, 0.658825, -2.360222, 1.17412},
			{0.017225, -2.109922, -0.832079, 1.262143, 0.139793, 0.240987, -1.025701, 0.405896, 1.125716, -1.092731},
		},
	} {
		r := openEarlier(t, folder)
		if r.Dataset != "glyphs" || r.Network != "linear" || r.Outputs != 10 || r.Class(3) != "3" || r.Temperature != temperatures[folder] {
			t.Errorf("%s: %+v", folder, r.Model)
		}
		const size = 784
		samples := make([]float32, 0, 3*size)
		for sample := range 3 {
			for j := range size {
				samples = append(samples, float32((7*sample+13*j)%11-5)/5)
			}
		}
		data, err := train.NewClassification(samples, make([]int32, 3), 10)
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.Predict(t.Context(), data.Data)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range got {
			// Single precision: 785 products whose sizes sum to less than 35, each rounded 785 times at most.
			if w := want[i/10][i%10]; math.Abs(float64(v)-w) > 35*785*math.Pow(2, -24) {
				t.Errorf("%s: output %d of sample %d is %v, want %v", folder, i%10, i/10, v, w)
			}
		}
	}
}

// The accuracy that an earlier version wrote beside its parameters, 0.788, is what this version computes. Another
// arithmetic may decide a tie of the 2,000 samples differently.
func TestEarlierAccuracyHolds(t *testing.T) {
	r := openEarlier(t, "released-1")
	rows, err := r.TestSet(t.Context(), new(recorder))
	if err != nil {
		t.Fatal(err)
	}
	outputs, err := r.Predict(t.Context(), rows.Data)
	if err != nil {
		t.Fatal(err)
	}
	right := 0
	for i, label := range rows.Labels.(*train.Classification).Labels() {
		if train.Predicted(outputs[i*r.Outputs:(i+1)*r.Outputs]) == int(label) {
			right++
		}
	}
	if right < 1575 || right > 1577 {
		t.Errorf("%d of 2,000 are right, want 1,576", right)
	}
}

func openEarlier(t *testing.T, folder string) *Released {
	t.Helper()
	r, err := Open(filepath.Join(earlier, folder), cpu.New(cpu.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}
