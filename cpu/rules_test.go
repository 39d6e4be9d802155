package cpu_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/enginetest"
)

// started returns runs of a program over data by an engine, one for each clipping norm.
func started(t *testing.T, e engine.Engine, p *compile.Program, data *engine.Data, clips ...float64) engine.Runs {
	t.Helper()
	loaded, err := e.Load(p, data)
	if err != nil {
		t.Fatal(err)
	}
	var jobs []engine.Job
	for _, clip := range clips {
		jobs = append(jobs, engine.Job{
			Mechanism: engine.Mechanism{SamplingProbability: 1, ClippingNorm: clip, ExpectedBatchSize: 1},
			Optimizer: engine.Optimizer{Method: engine.SGD, LearningRate: 1}, Initial: engine.LayoutOf(p).Join(p.Initial()),
		})
	}
	runs, err := loaded.Start(jobs...)
	if err != nil {
		t.Fatal(err)
	}
	return runs
}

// One sample at a time, sums are of contributions that are rounded by themselves, too: none is above C, the sum of many
// is exact, and a sample without a finite norm, or beyond single precision, contributes nothing.
func TestOneByOneKeepsTheRules(t *testing.T) {
	const samples, period = 2500, 7
	p := enginetest.Lone()["largest of a row"].Program(t, 1)
	data := enginetest.RandomData(p, samples, 3)
	for k, in := range p.Inputs {
		column := data.Columns[k].Floats
		for i := range column {
			if from := i - period*in.Size; from >= 0 {
				column[i] = column[from]
			} else {
				column[i] = float32(1 + i%in.Size) // so that sums grow in one direction
			}
		}
		for _, bad := range []struct {
			sample int
			value  float32
		}{{5, float32(math.NaN())}, {6, 0x1p30}} {
			for i := bad.sample; i < samples; i += period {
				for j := range in.Size {
					column[i*in.Size+j] = bad.value
				}
			}
		}
	}
	for _, clip := range []float64{1e-6, math.Nextafter(2, 0)} {
		runs := started(t, cpu.OneByOne(cpu.Options{Workers: 1}), p, data, clip)
		fine := engine.Mechanism{ClippingNorm: clip}.Grid(samples).Fine
		want := make([]float64, engine.LayoutOf(p).Size)
		for i := range int32(period) {
			sum, squared, err := cpu.Inspect(runs).ClippedSum(0, []int32{i})
			if err != nil {
				t.Fatal(err)
			}
			norm := 0.0
			for k, v := range sum {
				norm += v * v
				if v != math.RoundToEven(v/fine)*fine {
					t.Errorf("sample %d contributes %v, which is between the grid's points", i, v)
				}
				for j := int(i); j < samples; j += period {
					want[k] += v
				}
			}
			if norm = math.Sqrt(norm); !(norm <= clip) || i >= 5 && (norm != 0 || squared[0]-squared[0] == 0) || i < 5 && norm < 0.9*min(clip, math.Sqrt(squared[0])) {
				t.Errorf("clipped to %v, sample %d of norm %v contributes %v", clip, i, math.Sqrt(squared[0]), norm)
			}
		}
		all := make([]int32, samples)
		for i := range all {
			all[i] = int32(i)
		}
		if got, _, err := cpu.Inspect(runs).ClippedSum(0, all); err != nil || !slices.Equal(got, want) {
			t.Errorf("clipped to %v, %d samples sum to %v, want %v (%v)", clip, samples, got, want, err)
		}
	}
}

// A worker serves runs of any clipping norms, one after another, each on its own grid.
func TestWorkersServeRunsOfAnyClippingNorm(t *testing.T) {
	p := enginetest.MLP(t, 6, 5, 3)
	data := enginetest.RandomData(p, 700, 3)
	clips := []float64{1e-6, 1e6, 0.5}
	together := started(t, cpu.New(cpu.Options{Workers: 1}), p, data, clips...)
	r := rand.New(rand.NewPCG(1, 2))
	for range 12 {
		run, n := r.IntN(len(clips)), 1+r.IntN(700)
		var batch []int32
		for _, i := range r.Perm(700)[:n] {
			batch = append(batch, int32(i))
		}
		slices.Sort(batch)
		got, _, err := cpu.Inspect(together).ClippedSum(run, batch)
		if err != nil {
			t.Fatal(err)
		}
		want, _, err := cpu.Inspect(started(t, cpu.New(cpu.Options{Workers: 1}), p, data, clips[run])).ClippedSum(0, batch)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("a run of clipping norm %v has another sum of %d samples beside others", clips[run], n)
		}
	}
}
