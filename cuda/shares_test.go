package cuda

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/cuda/internal/driver"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/enginetest"
)

// Blocks share the minibatches of runs so that each sample is summed once, for its own run and slot, however many
// blocks there are and whatever the sizes, empty minibatches among them.
func TestShares(t *testing.T) { shares(t, on(kernelsOrSkip(t))) }

func shares(t enginetest.TB, open opener) {
	const samples, slots, most = 50, 3, 7 // more samples than a tile takes
	p := enginetest.Zoo()["scale by a parameter"].Program(t, 1)
	data := enginetest.RandomData(p, samples, 3)
	var jobs []engine.Job
	for range most {
		jobs = append(jobs, jobOf(p, engine.LayoutOf(p).Join(p.Initial()), samples))
	}
	fine := jobs[0].Mechanism.Grid(samples).Fine
	r := rand.New(rand.NewPCG(1, 2))
	var each [][]float64 // what each sample contributes
	for _, blocks := range []int{1, 2, 3, 5, 8, 40} {
		d, done := device(t, open, uint64(blocks))
		loaded, err := newEngine([]driver.Device{sized{Device: d, multiprocessors: blocks}}, "cuda, emulated", 64, nil).Load(p, data)
		if err != nil {
			t.Fatal(err)
		}
		runs, err := loaded.Start(jobs...)
		if err != nil {
			t.Fatal(err)
		}
		for i := len(each); i < samples; i++ {
			one, _, err := inspect(runs).ClippedSum(0, []int32{int32(i)})
			if err != nil {
				t.Fatal(err)
			}
			each = append(each, one)
		}
		s := runs.(*group).parts[0].step
		size := int(s.minibatches.Size)
		for range 12 {
			n := 1 + r.IntN(most)
			sizes, want := make([]int32, slots*n), make([]float64, slots*n*size)
			for k := range sizes {
				sizes[k] = int32([]int{0, r.IntN(4), r.IntN(samples + 1)}[r.IntN(3)])
				batch := []int32{}
				for _, i := range r.Perm(samples)[:sizes[k]] {
					batch = append(batch, int32(i))
					for j, v := range each[i] {
						want[k*size+j] += v
					}
				}
				slices.Sort(batch)
				if err := driver.Upload(d, s.minibatches.Batches, k*int(s.minibatches.Width), batch); err != nil {
					t.Fatal(err)
				}
			}
			slot := r.IntN(slots)
			if err := errors.Join(driver.Upload(d, s.minibatches.Sizes, 0, sizes), s.clippedSums(wave{0, n}, 0, slot)); err != nil {
				t.Fatal(err)
			}
			for k, units := range get[int64](t, d, s.minibatches.Sums, 0, n*size) {
				if float64(units)*fine != want[slot*n*size+k] {
					t.Fatalf("%d blocks, %d runs, slot %d of samples %v: run %d has another sum than its samples", blocks, n, slot, sizes, k/size)
				}
			}
			if err := d.Clear(s.minibatches.Sums, 0, 8*n*size); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(runs.Close(), loaded.Close()); err != nil {
			t.Fatal(err)
		}
		done()
	}
}
