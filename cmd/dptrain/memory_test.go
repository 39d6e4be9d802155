package main

import (
	"math"
	"testing"

	"github.com/dptrain/dptrain/configs"
	"github.com/dptrain/dptrain/internal/report"
)

func TestMemoryText(t *testing.T) {
	for bytes, want := range map[float64]string{
		81e6: "81 MB", 123.4e6: "120 MB", 985e6: "990 MB", 994e6: "990 MB", 995e6: "1 GB", 1.06e9: "1.1 GB", 25.4e9: "25 GB", 2048e9: "2000 GB",
	} {
		if got := memoryText(bytes); got != want {
			t.Errorf("%v: %s, want %s", bytes, got, want)
		}
	}
}

// The estimate against its parts by hand: an MLP 784-120-120-10 on MNIST has 109,930 parameters, samples of 784 values
// and 10 for the label, a byte for each pixel as it is read, and 23 trials are two standard deviations above 15; 60 of a
// geometric number are four times the mean.
func TestMemoryOf(t *testing.T) {
	e, err := configs.Preset("mnist")
	if err != nil {
		t.Fatal(err)
	}
	e.Model = "mlp"
	once := plan{experiment: e, size: size{train: 60000, test: 10000}}
	tuned := once
	tuned.privacy.Tuning = &report.Tuning{}
	geometric := tuned
	geometric.experiment.Privacy.Repetitions = "geometric"
	data := 100e6 + 70000*784 + 3*4*70000*794 + 4*6*109930.
	for _, c := range []struct {
		name string
		plan plan
		want float64
	}{
		{"one run", once, data + 16*60000 + 4*(10*109930+60000+10*10000)},
		{"tuning", tuned, data + 60*60000 + 23*4*(10*109930+6000+10*10000)},
		{"a geometric number of trials", geometric, data + 60*60000 + 60*4*(10*109930+6000+10*10000)},
	} {
		if got, err := memoryOf(c.plan); err != nil || math.Abs(got-c.want) > 1 {
			t.Errorf("%s: %v bytes, %v; want %v", c.name, got, err, c.want)
		}
	}
}
