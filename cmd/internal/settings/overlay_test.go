package settings

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An overlay changes exactly its own settings, for all data sets: DP-Adam has another learning rate than DP-SGD, and
// more parameters to tune take more trials, whatever the data set's own settings are.
func TestOverlaysAreOverDatasets(t *testing.T) {
	for _, dataset := range Datasets() {
		for _, overlay := range []string{"-adam", "-all", "-adam-all"} {
			want, err := Preset(dataset)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Preset(dataset + overlay)
			if err != nil {
				t.Fatal(err)
			}
			want.Preset = dataset + overlay
			own := dataset == Files // its optimizer is DP-Adam anyway, with rates of its own
			if overlay != "-all" && !own {
				want.Training.Optimizer = "dp-adam"
				if rate := got.Training.LearningRate; math.Abs(rate/math.Pow(10, -2.5)-1) < 1e-12 {
					want.Training.LearningRate = rate
				}
			}
			if overlay != "-adam" {
				want.Privacy.MeanRepetitions, want.Tuning.Tune = 45, []string{TuneAll}
			}
			if diff := cmp.Diff(want, got); diff != "" || want.Training.LearningRate > 0.01 != (own || overlay == "-all") {
				t.Errorf("%s%s (-want +got)\n%s", dataset, overlay, diff)
			}
		}
	}
}
