package figure

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/dptrain/dptrain/accountant"
)

func TestLearning(t *testing.T) {
	l, err := NewLearning("accuracy", []LearningPoint{{0, 0.1, new(0.)}, {7, 0.25, new(0.5)}, {9, 0.75, new(1.25)}})
	if err != nil {
		t.Fatal(err)
	}
	if want := [][]string{{"step", "score", "epsilon"}, {"0", "0.1", "0"}, {"7", "0.25", "0.5"}, {"9", "0.75", "1.25"}}; !reflect.DeepEqual(l.Table(), want) {
		t.Errorf("%v, want %v", l.Table(), want)
	}
	if c := l.drawing().panels[0].curves[0]; !reflect.DeepEqual(c.x, []float64{0, 7, 9}) || !reflect.DeepEqual(c.y, []float64{0.1, 0.25, 0.75}) {
		t.Errorf("drawn are %v and %v", c.x, c.y)
	}
}

// A regression that diverges for a while is drawn with a gap, and one that always diverges without a curve.
func TestLearningLeavesOutWhatDiverges(t *testing.T) {
	points := []LearningPoint{{1, 0.5, nil}, {2, -math.MaxFloat64, nil}, {3, 0.25, nil}}
	l, err := NewLearning("R²", points)
	if err != nil {
		t.Fatal(err)
	}
	if y := l.drawing().panels[0].curves[0].y; y[0] != 0.5 || !math.IsNaN(y[1]) || y[2] != 0.25 {
		t.Errorf("drawn are %v", y)
	}
	if l, err = NewLearning("R²", points[1:2]); err != nil {
		t.Fatal(err)
	}
	if p := l.drawing().panels[0]; len(p.curves) > 0 || p.empty == "" {
		t.Errorf("drawn is %+v", p)
	}
	files, err := Encode(l, "svg", "csv", "png")
	if err != nil || len(files) != 3 || files[0].Extension != "svg" || files[1].Extension != "csv" {
		t.Errorf("%d files, %v", len(files), err)
	}
	if _, err := Encode(l, "gif"); err == nil {
		t.Error("a gif is encoded")
	}
}

func TestLearningIsChecked(t *testing.T) {
	for _, points := range [][]LearningPoint{nil, {{-1, 0, nil}}, {{2, 0, nil}, {2, 0, nil}}, {{2, 0, nil}, {1, 0, nil}}, {{1, 0, nil}, {2, 0, new(1.)}}} {
		if _, err := NewLearning("accuracy", points); !errors.Is(err, accountant.ErrInvalid) {
			t.Errorf("%+v: %v", points, err)
		}
	}
}
