package train

import (
	"context"
	"crypto/sha256"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/dptrain/dptrain/internal/given"
)

func TestNewDataRefuses(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	tests := []struct {
		samples int
		column  []float32
		want    string
	}{
		{2, []float32{1, 2, 3, nan}, "column 0: sample 1, value 1 is NaN: want finite numbers"},
		{2, []float32{1, inf, 3, 4}, "column 0: sample 0, value 1 is -Inf: want finite numbers"},
		{3, []float32{1, 2, 3, 4}, "column 0: 4 values don't divide into 3 samples"},
		{2, nil, "column 0: 0 values don't divide into 2 samples"},
		{0, []float32{1}, "column 0: 1 values for no samples"},
		{-1, nil, "-1 samples: want 0 to 2147483647"},
	}
	for _, tt := range tests {
		_, err := NewData(tt.samples, tt.column)
		var data *DataError
		if !errors.As(err, &data) || err.Error() != tt.want {
			t.Errorf("got %v\nwant %s", err, tt.want)
		}
	}
}

func TestNewClassificationRefuses(t *testing.T) {
	x := []float32{1, 2, 3, 4}
	tests := []struct {
		labels  []int32
		classes int
		want    string
	}{
		{[]int32{0, 2}, 2, "label 2 of sample 1: want 0 to 1"},
		{[]int32{-1, 0}, 2, "label -1 of sample 0: want 0 to 1"},
		{[]int32{0, 0}, 1, "1 classes: want 2 to 16777216"},
		{[]int32{0, 0}, 1 << 40, "1099511627776 classes: want 2 to 16777216"},
		{[]int32{0, 0, 1}, 2, "column 0: 4 values don't divide into 3 samples"},
	}
	for _, tt := range tests {
		if _, err := NewClassification(x, tt.labels, tt.classes); err == nil || err.Error() != tt.want {
			t.Errorf("got %v\nwant %s", err, tt.want)
		}
	}
}

func TestClassificationColumns(t *testing.T) {
	c, err := NewClassification([]float32{1, 2, 3, 4}, []int32{2, 0}, 3)
	if err != nil {
		t.Fatal(err)
	}
	want := []float32{0, 0, 1, 1, 0, 0}
	for i, v := range c.columns.Columns[1].Floats {
		if v != want[i] {
			t.Fatalf("one-hot labels %v, want %v", c.columns.Columns[1], want)
		}
	}
	if c.Samples() != 2 || c.Classes() != 3 {
		t.Fatalf("%d samples of %d classes", c.Samples(), c.Classes())
	}
}

func TestAccuracyOfLogits(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	c, err := NewClassification(make([]float32, 4), []int32{1, 0, 1, 0}, 2)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		logits []float32
		want   float64
	}{
		{"all right", []float32{0, 1, 1, 0, -2, -1, 5, 4}, 1},
		{"all wrong", []float32{1, 0, 0, 1, -1, -2, 4, 5}, 0},
		{"the first of equals", []float32{3, 3, 3, 3, 3, 3, 3, 3}, 0.5},
		{"a NaN beside the largest", []float32{nan, 1, 1, nan, nan, nan, 5, 4}, 0.25},
		{"infinite but clear", []float32{0, inf, inf, 0, -inf, 0, inf, -inf}, 1},
	}
	for _, tt := range tests {
		if got := c.score(tt.logits); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestAccuracyOfNoSamples(t *testing.T) {
	c, err := NewClassification(nil, nil, 2)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.score(nil); got != 0 {
		t.Errorf("got %v, want 0", got)
	}
}

// Data not made by NewData is an error, not a panic.
func TestNoData(t *testing.T) {
	model := func() Model { return logistic(t, rand.NewPCG(3, 4)) }
	for _, data := range []*Data{nil, {}} {
		_, err := New(&fakeEngine{}, model(), data, settings())
		var wrong *DataError
		if !errors.As(err, &wrong) {
			t.Errorf("error %v, want a DataError", err)
		}
	}
	var wrong *SettingError
	if _, err := New(nil, model(), threeClouds(t, 60).Data, settings()); !errors.As(err, &wrong) {
		t.Errorf("no engine: error %v, want a SettingError", err)
	}
	trainer, _ := start(t, settings())
	if _, err := trainer.Score(context.Background(), nil); err == nil {
		t.Error("no test set is no error")
	}
}

// Data takes over the memory of given samples, and equals data made from copies.
func TestGivenSamplesAreKept(t *testing.T) {
	x, ids, weights := []float32{1, 2, 3, 4}, []int32{5, 6}, []float32{7, 8}
	labels, targets := []int32{1, 0}, []float32{9, 10}
	for name, c := range map[string]struct {
		columns []Column
		set     func(samples given.Columns) (Labelled, error)
		copied  Labelled
	}{
		"numbers": {
			[]Column{{Floats: x}},
			func(samples given.Columns) (Labelled, error) { return ClassificationOf(samples, labels, 2) },
			must(NewClassification(x, labels, 2)),
		},
		"texts": {
			[]Column{{Ints: ids}, {Floats: weights}},
			func(samples given.Columns) (Labelled, error) { return ClassificationOf(samples, labels, 2) },
			must(NewTokenClassification(ids, labels, 2, weights)),
		},
		"regression": {
			[]Column{{Floats: x}},
			func(samples given.Columns) (Labelled, error) { return RegressionOf(samples, targets) },
			must(NewRegression(x, targets)),
		},
	} {
		data := must(c.set(given.Away(c.columns...))).Inputs()
		for k, column := range c.columns {
			kept := data.columns.Columns[k]
			if unsafe.SliceData(kept.Floats) != unsafe.SliceData(column.Floats) || unsafe.SliceData(kept.Ints) != unsafe.SliceData(column.Ints) {
				t.Errorf("%s: column %d is a copy", name, k)
			}
		}
		if data.digest() != c.copied.Inputs().digest() {
			t.Errorf("%s: other data than a copy's", name)
		}
	}
}

// Prepare computes the hash, and does nothing without data.
func TestPrepare(t *testing.T) {
	data := must(NewData(1, []float32{1}))
	hash, hashed := data.digest, 0
	data.digest = func() [sha256.Size]byte {
		hashed++
		return hash()
	}
	if data.Prepare(); hashed != 1 {
		t.Errorf("hashed %d times", hashed)
	}
	for _, none := range []*Data{nil, {}} {
		none.Prepare()
	}
}
