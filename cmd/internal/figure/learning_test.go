package figure

import (
	"math"
	"reflect"
	"strconv"
	"testing"

	"github.com/dptrain/dptrain/train"
	"pgregory.net/rapid"
)

func TestLearning(t *testing.T) {
	l := Learning{"accuracy", []train.Point{{Step: 0, Score: 0.1}, {Step: 7, Score: 0.25}, {Step: 9, Score: 0.75}}, []float64{0, 0.5, 1.25}}
	if want := [][]string{{"step", "score", "epsilon"}, {"0", "0.1", "0"}, {"7", "0.25", "0.5"}, {"9", "0.75", "1.25"}}; !reflect.DeepEqual(l.Table(), want) {
		t.Errorf("%v, want %v", l.Table(), want)
	}
	if c := l.drawing().panels[0].curves[0]; !reflect.DeepEqual(c.x, []float64{0, 7, 9}) || !reflect.DeepEqual(c.y, []float64{0.1, 0.25, 0.75}) {
		t.Errorf("drawn are %v and %v", c.x, c.y)
	}
}

// A regression that diverges for a while is drawn with a gap, and one that always diverges without a curve.
func TestLearningLeavesOutWhatDiverges(t *testing.T) {
	points := []train.Point{{Step: 1, Score: 0.5}, {Step: 2, Score: -math.MaxFloat64}, {Step: 3, Score: 0.25}}
	l := Learning{Metric: "R²", Points: points}
	if y := l.drawing().panels[0].curves[0].y; y[0] != 0.5 || !math.IsNaN(y[1]) || y[2] != 0.25 {
		t.Errorf("drawn are %v", y)
	}
	l.Points = points[1:2]
	if p := l.drawing().panels[0]; len(p.curves) > 0 || p.empty == "" {
		t.Errorf("drawn is %+v", p)
	}
	files, err := Encode(l, "svg", "csv", "png")
	if err != nil || len(files) != 3 || files[0].Extension != "svg" || files[1].Extension != "csv" {
		t.Errorf("%d files, %v", len(files), err)
	}
}

func TestUpIsCloseAndNeverBelow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Float64Range(1e-12, 1e12).Draw(t, "v")
		shown, err := strconv.ParseFloat(up(v), 64)
		if err != nil || shown < v || shown > v*1.0101 {
			t.Fatalf("%v is shown as %q", v, up(v))
		}
	})
	if got := up(0); got != "0" {
		t.Errorf("0 is shown as %q", got)
	}
}
