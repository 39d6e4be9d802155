package cpu

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/dptrain/dptrain/cpu/internal/kernel"
	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/enginetest"
	"github.com/dptrain/dptrain/internal/long"
)

// A failed worker does nothing more: later work must not overwrite its error.
func TestShareKeepsAFailure(t *testing.T) {
	want := errors.New("no")
	for _, workers := range []int{1, 3} {
		calls := 0
		err := crewOf(workers).share(5, func(_ *worker, i int) error {
			if workers == 1 {
				calls++
			}
			if i == 0 {
				return want
			}
			return nil
		})
		if !errors.Is(err, want) || calls > 1 {
			t.Errorf("%d workers: %v after %d calls", workers, err, calls)
		}
	}
}

//	All workers take part, the first one's failure is returned, and nothing of a task outlives it: no failure, and not
//
// the function, which holds the run and its data.
func TestShareIsWithAllWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // panics if a worker that others wait for doesn't come
		c := crewOf(3)
		for failing := range c {
			var all sync.WaitGroup
			all.Add(len(c))
			err := c.share(len(c), func(w *worker, _ int) error {
				all.Done()
				all.Wait()
				if k := slices.Index(c, w); k >= failing {
					return fmt.Errorf("failure of worker %d", k)
				}
				return nil
			})
			if want := fmt.Sprintf("failure of worker %d", failing); err == nil || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
			if err := c.share(5, func(*worker, int) error { return nil }); err != nil {
				t.Errorf("%v appears again", err)
			}
			if c[0].own.f != nil {
				t.Error("a crew keeps the function")
			}
		}
	})
}

// A step has as many workers as get enough work, of samples or of parameters, and can share it.
func TestWorkersOfAStep(t *testing.T) {
	defer func(v float64) { leastWork = v }(leastWork)
	leastWork = 40_000
	for _, c := range []struct {
		members       int
		work          float64 // of a sample
		size, updates int
		want          int
	}{
		{0, 1, 10, 1, 1},           // nothing
		{200, 399, 0, 1, 1},        // 100 samples
		{200, 4001, 0, 1, 10},      // with 400 µs
		{200, 1e6, 0, 1, 17},       // 200 samples, 12 at a time
		{0, 1, 1_000_000, 245, 75}, // parameters, 3 ns each
		{0, 1, 1_000_000, 3, 3},
		{200, 2000, 70_000, 20, 10}, // both
	} {
		r := &run{
			loaded:  &loaded{code: &lowered{work: c.work}, layout: engine.Layout{Size: c.size}, updates: make([]span, c.updates)},
			members: make([]int32, c.members),
			job:     engine.Job{Mechanism: engine.Mechanism{SamplingProbability: 0.5}},
		}
		if got := r.parallel(); got != c.want {
			t.Errorf("%+v: %d workers", c, got)
		}
	}
}

// Parameters that the cache doesn't hold are read once for many samples, and each worker gets one share of them.
func TestMicrobatches(t *testing.T) {
	for _, c := range []struct{ perSample, parameters, want int }{
		{1000, 1000, maxShare}, {cacheFloats / 10, 1000, 10}, {1, 1, maxShare}, {0, 1, maxShare}, {2 * cacheFloats, 1000, 1},
		{4000, cacheFloats, maxShare}, {4000, 50 * 4000, 50}, {9000, 5_800_000, maxMicrobatch}, {10 * cacheFloats, 2 * cacheFloats, 1},
	} {
		if got := microbatchOf(c.perSample, c.parameters); got != c.want {
			t.Errorf("%d floats a sample, %d parameters: %d samples, want %d", c.perSample, c.parameters, got, c.want)
		}
	}
	for _, c := range []struct{ microbatch, n, workers, want int }{
		{48, 0, 1, 0}, {48, 1, 2, 1}, {48, 128, 1, 4}, {48, 1278, 2, 27}, {6, 128, 2, 8}, {256, 256, 1, 1}, {256, 256, 2, 2}, {256, 1000, 2, 4},
		{196, 30, 4, 2},
	} {
		r := &run{loaded: &loaded{code: &lowered{samples: c.microbatch}}}
		if got := r.sharesOf(c.n, c.workers); got != c.want {
			t.Errorf("microbatches of %d, %d samples, %d workers: %d shares, want %d", c.microbatch, c.n, c.workers, got, c.want)
		}
	}
}

// Tables don't count as parameters that every sample reads.
func TestTablesAreNotMultiplied(t *testing.T) {
	p := enginetest.Zoo()["mean of rows that are looked up"].Program(t, 1)
	l, err := lower(p)
	if err != nil {
		t.Fatal(err)
	}
	all := 0
	for _, param := range p.Params {
		all += param.Size
	}
	for i, width := range l.widths() {
		if width > 0 {
			all -= p.Params[i].Size
		}
	}
	if got := l.multiplied(); got != all || got == 0 {
		t.Errorf("%d parameters are multiplied, want %d", got, all)
	}
}

// Sums of layers so wide that copies are multiplied, in microbatches of any size, are the sums of what each sample
// contributes.
func TestWideLayersAddUp(t *testing.T) {
	addUp(t, enginetest.MLP(t, 530, 520, 3), true)
	addUp(t, enginetest.Zoo()["a product with a transposed parameter"].Program(t, 1), false)
}

func addUp(t *testing.T, p *compile.Program, wide bool) {
	l, err := lower(p)
	if err != nil {
		t.Fatal(err)
	}
	if buffers, parameters := float64(l.gradient.Floats), 0.05*float64(l.multiplied()); l.work <= max(buffers, parameters) {
		t.Errorf("a sample's work is %v, with buffers' %v and parameters' %v", l.work, buffers, parameters)
	}
	if l.samples > maxShare != wide {
		t.Fatalf("microbatches of %d", l.samples)
	}
	const samples = 70
	data, squared := enginetest.RandomData(p, samples, 1), make([]float64, samples)
	b := l.bind()
	b.set(p.Initial())
	if b.coins, err = coinsOf(p, data, 3); err != nil {
		t.Fatal(err)
	}
	unitsOf := func(size int, batch []int32) []int32 {
		parted := *l
		parted.samples = size
		sum := emptySum(l)
		if err := parted.workspace().clipped(b, data, batch, 1, sum, squared[:len(batch)]); err != nil {
			t.Fatal(err)
		}
		return sum.units
	}
	all, want := make([]int32, samples), make([]int32, engine.LayoutOf(p).Size)
	for i := range all {
		all[i] = int32(i)
		for k, v := range unitsOf(1, all[i:i+1]) {
			want[k] += v
		}
	}
	for _, size := range []int{l.samples, 33, 7} {
		if got := unitsOf(size, all); !slices.Equal(got, want) {
			t.Errorf("in microbatches of %d the sum is another", size)
		}
	}
}

// Once buffers have their size, a step allocates nothing, for any number of workers.
func TestStepsAllocateNothing(t *testing.T) {
	long.SkipRace(t, "it keeps functions from being inlined")
	if kernel.Arithmetic() == "plain" {
		t.Skip("the portable keystream allocates ciphers")
	}
	for _, name := range []string{"mean of rows that are looked up", "dropout"} {
		p := enginetest.Zoo()[name].Program(t, 1)
		for _, workers := range []int{1, 3} {
			l := must(New(Options{Workers: workers}).Load(p, enginetest.RandomData(p, 200, 1)))
			runs := must(l.Start(wholeBatches(p))).(*group)
			c, _ := runs.team.borrow(workers, 0)
			if n := testing.AllocsPerRun(50, func() { must(0, runs.runs[0].step(c)) }); n > 0 || len(c) != workers {
				t.Errorf("%s: %d workers: a step allocates %v times", name, len(c), n)
			}
		}
	}
}

// wholeBatches is a job of steps on all samples.
func wholeBatches(p *compile.Program) engine.Job {
	return engine.Job{
		Mechanism: engine.Mechanism{SamplingProbability: 1, NoiseMultiplier: 1, ClippingNorm: 1, ExpectedBatchSize: 200},
		Optimizer: engine.Optimizer{Method: engine.SGD, LearningRate: 0.01},
		Initial:   engine.LayoutOf(p).Join(p.Initial()),
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Coins of different samples are independent, also of samples whose values differ in few bits.
func TestCoinsAreIndependent(t *testing.T) {
	const samples, size, steps = 2000, 60, 200
	p := &compile.Program{Inputs: []compile.Tensor{{Size: size}}}
	for _, values := range [][]float32{{-1, 1}, {0, 1}, {0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875}} {
		r := rand.New(rand.NewPCG(1, 2))
		x := make([]float32, samples*size)
		for i := range x {
			x[i] = values[r.IntN(len(values))]
		}
		coins := must(coinsOf(p, &engine.Data{Samples: samples, Columns: []engine.Column{{Floats: x}}}, 2))
		squares := 0.0
		for step := range steps {
			ups := 0
			for _, c := range coins {
				if roundsUp(c, step) {
					ups++
				}
			}
			squares += float64(2*ups-samples) * float64(2*ups-samples) / samples
		}
		// A mean of as many squares of normals, within five standard deviations.
		if mean := squares / steps; mean < 0.5 || mean > 1.5 {
			t.Errorf("values %v: the variance of a step's coins is %v times that of independent ones", values, mean)
		}
		if different := len(slices.Compact(slices.Sorted(slices.Values(coins)))); different < samples-5 {
			t.Errorf("values %v: %d of %d samples have hashes of their own", values, different, samples)
		}
	}
}
