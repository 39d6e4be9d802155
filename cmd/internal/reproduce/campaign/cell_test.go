package campaign

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/cmd/internal/settings"
)

// drawJob draws any job.
func drawJob(t *rapid.T) Job {
	return Job{
		Cell: Cell{
			Dataset:    rapid.SampledFrom([]string{"mnist", "fashion-mnist", "cifar-10", "imdb", "glyphs"}).Draw(t, "data set"),
			Optimizer:  rapid.SampledFrom([]string{"dp-sgd", "dp-adam"}).Draw(t, "optimizer"),
			Space:      rapid.SampledFrom([]Space{Rate, All}).Draw(t, "space"),
			Method:     rapid.SampledFrom([]Method{"v1", "v2", "baseline", "single"}).Draw(t, "method"),
			Accounting: rapid.SampledFrom([]string{"paper", "tight", "best"}).Draw(t, "accounting"),
			Epsilon:    rapid.Float64Range(1e-3, 999).Draw(t, "epsilon"),
		},
		Repetition: rapid.IntRange(1, 5000).Draw(t, "repetition"),
	}
}

// A run's name says which job it is, and no two jobs share one, even where names don't differ in case.
func TestNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawJob(t), drawJob(t)
		if got, ok := ParseJob(a.Name()); !ok || got != a {
			t.Errorf("%q is %+v, %t, want %+v", a.Name(), got, ok, a)
		}
		if same := strings.EqualFold(a.Name(), b.Name()); same != (a == b) {
			t.Errorf("%q and %q", a.Name(), b.Name())
		}
	})
	want := Job{Cell{"fashion-mnist", "dp-adam", All, Variant2, "best", 0.5}, 3}
	if name := want.Name(); name != "fashion-mnist-adam-all_v2_best_eps0.5_03" {
		t.Errorf("name %q", name)
	}
}

// Another spelling of a job's name is no job: two folders would be one run.
func TestNoNames(t *testing.T) {
	for _, name := range []string{
		"", "mnist", "mnist_v1_paper_eps1", "mnist_v1_paper_eps1_1", "mnist_v1_paper_eps1_00", "mnist_v1_paper_eps1_-1", "mnist_v1_paper_eps1.0_01", "mnist_v1_paper_1_01",
		"mnist_variant 1_paper_eps1_01", "mnist_v3_paper_eps1_01", "minst_v1_paper_eps1_01", "mnist_v1_paper_eps1_01-failed", "mnist-all-adam_v1_paper_eps1_01",
		"mnist_v1_paper_epsNaN_01", "mnist_v1_paper_eps1_01_", "files_v1_paper_eps0x1_01", "mnist_v1_paper_eps1e0_01", "MNIST_v1_paper_eps1_01", "mnist_v1_paper_eps1_ 1",
	} {
		if job, ok := ParseJob(name); ok {
			t.Errorf("%q is job %+v", name, job)
		}
	}
}

func FuzzParseTask(f *testing.F) {
	f.Add("mnist-adam-all_single_tight_eps0.25_07")
	f.Fuzz(func(t *testing.T, name string) {
		if job, ok := ParseJob(name); ok && job.Name() != name {
			t.Errorf("%q is named %q", name, job.Name())
		}
	})
}

// Each cell has the preset of its data set, optimizer and space.
func TestPresetsExist(t *testing.T) {
	for _, dataset := range []string{"mnist", "fashion-mnist", "cifar-10", "imdb"} {
		for _, optimizer := range []string{"dp-sgd", "dp-adam"} {
			for space, mean := range map[Space]float64{Rate: 15, All: 45} {
				c := Cell{Dataset: dataset, Optimizer: optimizer, Space: space}
				e, err := settings.Preset(c.Preset())
				if err != nil || e.Dataset != dataset || e.Training.Optimizer != optimizer || e.Privacy.MeanRepetitions != mean || e.Privacy.SubsetRate != 0.1 || e.Privacy.Delta != 1e-5 {
					t.Errorf("%s: %+v, %v", c.Preset(), e, err)
				}
			}
		}
	}
}
