package experiment

import (
	"math"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cmd/internal/settings"
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

// The estimate against its parts by hand: an MLP 784-120-120-10 on MNIST has 109,930 parameters, samples of 784
// values and 10 for the label, a byte for each pixel as it is read, and 23 trials are two standard deviations above
// 15; 60 of a geometric number are four times the mean.
func TestMemoryOf(t *testing.T) {
	e, err := settings.Preset("mnist")
	if err != nil {
		t.Fatal(err)
	}
	e.Model = "mlp"
	geometric := e
	geometric.Privacy.Repetitions = "geometric"
	data := 100e6 + 70000*784 + 3.4*4*70000*794 + 4*6*109930.
	for _, c := range []struct {
		name  string
		e     settings.Experiment
		tuned bool
		want  float64
	}{
		{"one run", e, false, data + 16*60000 + 4*(10*109930+60000+10*10000)},
		{"tuning", e, true, data + 60*60000 + 23*4*(10*109930+6000+10*10000)},
		{"a geometric number of trials", geometric, true, data + 60*60000 + 60*4*(10*109930+6000+10*10000)},
	} {
		if got, err := memoryOf(c.e, Samples{Train: 60000, Test: 10000}, c.tuned); err != nil || math.Abs(got-c.want) > 1 {
			t.Errorf("%s: %v bytes, %v; want %v", c.name, got, err, c.want)
		}
	}
}

// Of IMDB, a text of 128 tokens has a number and a weight for each; a table of 28,996 words of 16 numbers and layers of
// 16·16+16 and 16·2+2 are 464,242 parameters. Of CIFAR-10, a linear model has 64·10+10 parameters on 64 features of an
// image of 3,072 bytes.
func TestMemoryOfTextsAndFeatures(t *testing.T) {
	for _, c := range []struct {
		name        string
		train, test int
		want        float64
	}{
		{"imdb", 25000, 20000, 100e6 + 45000*256 + 3.4*4*45000*(128+128+2) + 4*6*464242 + 16*25000 + 4*(10*464242+25000+2*20000.)},
		{"cifar-10", 50000, 10000, 100e6 + 60000*3072 + 3.4*4*60000*(64+10) + 4*6*650 + 16*50000 + 4*(10*650+50000+10*10000.)},
	} {
		e, err := settings.Preset(c.name)
		if err != nil {
			t.Fatal(err)
		}
		e.TextLength = 128
		if got, err := memoryOf(e, Samples{Train: c.train, Test: c.test, Features: featured[c.name]}, false); err != nil || math.Abs(got-c.want) > 1 {
			t.Errorf("%s: %v bytes, %v; want %v", c.name, got, err, c.want)
		}
	}
}

// However many trials there are, 64 runs are held at once; the baseline's train on all rows. A linear model on MNIST
// has 7,850 parameters.
func TestMemoryOfManyRuns(t *testing.T) {
	e, err := settings.Preset("mnist")
	if err != nil {
		t.Fatal(err)
	}
	e.Model = "linear"
	for _, c := range []struct {
		repetitions, variant string
		mean                 float64
		runs, rows           float64
	}{
		{"poisson", "1", 48, 62, 6000}, // 48 + 13.86
		{"poisson", "1", 50, 64, 6000}, // 50 + 14.14
		{"poisson", "1", 1000, 64, 6000},
		{"truncated-poisson", "2", 4, 8, 6000},
		{"negative-binomial", "1", 15.5, 62, 6000},
		{"logarithmic", "2", 17, 64, 6000},
		{"poisson", "baseline", 4, 8, 60000},
	} {
		e.Privacy.Repetitions, e.Privacy.Variant, e.Privacy.MeanRepetitions = c.repetitions, c.variant, c.mean
		want := 100e6 + 70000*784 + 3.4*4*70000*794 + 4*6*7850 + 60*60000 + c.runs*4*(10*7850+c.rows+10*10000)
		got, err := memoryOf(e, Samples{Train: 60000, Test: 10000}, true)
		if err != nil || math.Abs(got-want) > 1 {
			t.Errorf("%+v: %v bytes, %v; want %v", c, got, err, want)
		}
	}
}

// There is no warning of a run that takes all free memory to the byte, nor on a system that doesn't report its memory.
func TestMemoryWarning(t *testing.T) {
	defer func(was func() (uint64, bool)) { available = was }(available)
	for _, c := range []struct {
		free  uint64
		known bool
		want  string
	}{
		{2_000_000_000, true, ""},
		{1_999_999_999, true, "the run takes up to about 2 GB of memory, and 2 GB are free: it may be killed"},
		{500_000_000, true, "the run takes up to about 2 GB of memory, and 500 MB are free: it may be killed"},
		{0, false, ""},
	} {
		available = func() (uint64, bool) { return c.free, c.known }
		if got := memoryWarning(2e9, freeMemory()); c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
			t.Errorf("%d bytes free, %t: %q, want %q", c.free, c.known, got, c.want)
		}
	}
}
