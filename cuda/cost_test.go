package cuda

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cuda/internal/driver"
	"github.com/dptrain/dptrain/models"
	"github.com/dptrain/dptrain/train/engine"
	"github.com/dptrain/dptrain/train/enginetest"
)

// executed is how many multiplications multiply does for a result of batches × m × n in a number of steps: rows go by
// eight and columns by lanes, whether there is something to do or not.
func executed(columns, batches, m, n, steps int) int {
	lanes := n / (warpSize * columns) * warpSize
	lanes += min(warpSize, n%(warpSize*columns))
	return batches * ((m + 7) / 8) * 8 * lanes * columns * steps
}

// multiplyAdds predicts how many multiply-adds the walk of a chunk of n samples executes, and how many of them there would be
// if nothing went to waste.
func (l *lowered) multiplyAdds(n int) (executes, needs int) {
	product := func(columns, batches, m, across, steps int) {
		executes += executed(columns, batches, m, across, steps)
		needs += batches * m * across * steps
	}
	for c := l.gradient.code; len(c) > 0; c = c[words:] {
		rows, k, nn := int(c[wordRows]), int(c[wordK]), int(c[wordN])
		w := c[wordC:]
		image, window := [2]int{int(w[1]), int(w[2])}, [2]int{int(w[3]), int(w[4])}
		pad, stride, dilation := [2]int{int(w[5]), int(w[6])}, [2]int{int(w[7]), int(w[8])}, [2]int{int(w[9]), int(w[10])}
		channels, filters, positions := int(w[0]), int(w[11]), int(w[12]*w[13])
		patch := channels * window[0] * window[1]
		switch c[wordOp] {
		case opMatmul:
			product(1, 1, n*rows, nn, k)
		case opMatmulBack:
			product(1, 1, n*rows, k, nn)
		case opGradMatmul:
			if c[wordTransposed] == 1 {
				k, nn = nn, k
			}
			product(1, n, k, nn, rows)
		case opConv:
			product(4, 1, filters, n*positions, patch)
		case opGradConv:
			columns := 2
			if patch > 64 {
				columns = 4
			}
			product(columns, n, filters, patch, positions)
		case opConvBack:
			for i := range stride[0] {
				for j := range stride[1] {
					var meets, pixels [2]int
					for d, remainder := range [2]int{i, j} {
						for e := range window[d] {
							if e*dilation[d]%stride[d] == remainder {
								meets[d]++
							}
						}
						for y := range image[d] {
							if (y+pad[d])%stride[d] == remainder {
								pixels[d]++
							}
						}
					}
					product(4, 1, channels, n*pixels[0]*pixels[1], filters*meets[0]*meets[1])
				}
			}
		}
	}
	for s := l.sums; len(s) > 0; s = s[sumWords:] {
		k, nn := int(s[sumK]), int(s[sumN])
		switch {
		case s[sumRule] == ofGradient:
			executes += n * int(s[sumSize])
			needs += n * int(s[sumSize])
		default:
			if s[sumTransposed] == 1 {
				k, nn = nn, k
			}
			columns := 1
			if nn > 64 {
				columns = 4
			}
			product(columns, 1, k, nn, n)
		}
	}
	return executes, needs
}

// workload is what advances together in the paper's experiments on a data set of 60,000: 15 trials on a tenth of it, or the
// final run on the rest.
type workload struct {
	model, what          string
	runs, places, inPlay int
}

const samplingRate = 0.0213

func workloads() []workload {
	var out []workload
	for _, model := range models.Names() {
		out = append(out, workload{model, "15 trials", 15, 60000, 6000}, workload{model, "final run", 1, 60000, 54000})
	}
	return out
}

// prediction is what a step of a workload takes: chunks and samples of all runs, multiply-adds as they are executed and
// needed, and as the busiest multiprocessor executes them. It is a mean over minibatches.
type prediction struct{ samples, chunks, executes, needs, busiest float64 }

func (w workload) step(l *lowered) (out prediction) {
	r := rand.New(rand.NewPCG(1, 2))
	const draws = 50
	for range draws {
		item, blocks := 0, make([]float64, multiprocessors)
		for range w.runs {
			var batch []int32
			for i := range int32(w.places) {
				if r.Float64() < samplingRate*float64(w.inPlay)/float64(w.places) {
					batch = append(batch, i)
				}
			}
			cuts := engine.Chunks(batch, l.chunk, nil)
			for k := range len(cuts) - 1 {
				executes, needs := l.multiplyAdds(cuts[k+1] - cuts[k])
				out.executes += float64(executes) / draws
				out.needs += float64(needs) / draws
				blocks[item%multiprocessors] += float64(executes)
				item++
			}
			out.samples += float64(len(batch)) / draws
		}
		out.chunks += float64(item) / draws
		out.busiest += slices.Max(blocks) / draws
	}
	return out
}

// An H100 (SXM): multiprocessors, multiply-adds of a multiprocessor in a cycle, cycles in a second. The rate of atomic additions of
// eight bytes is a guess, which a measurement should replace: one a cycle for each of the level-2 cache's 80 slices.
const (
	multiprocessors = 132
	addsPerCycle    = 128
	cycles          = 1.755e9
	atomicsPerCycle = 80
	launchSeconds   = 2e-6
	launches        = 4
)

// floor is the least time of a step, in seconds.
func (p prediction) floor(l *lowered) float64 {
	return launches*launchSeconds + p.busiest/(addsPerCycle*cycles) + p.chunks*float64(l.Size())/(atomicsPerCycle*cycles)
}

// table predicts each workload's step and the floor that it gives, as the package's comment has it.
func table(t *testing.T) string {
	var b strings.Builder
	fmt.Fprintf(&b, "//	%-4s %-9s %9s %6s %8s %10s %10s %9s %9s %7s\n", "", "a step of", "launches", "chunks", "samples", "needs", "executes", "atomics", "memory", "floor")
	for _, w := range workloads() {
		p, _ := network(t, w.model)
		l, err := lower(p)
		if err != nil {
			t.Fatal(err)
		}
		s := w.step(l)
		memory := 4 * float64(l.chunk*(l.gradient.memory.Floats+l.gradient.memory.Indices))
		fmt.Fprintf(&b, "//	%-4s %-9s %9d %6.0f %8.0f %8.2f G %8.2f G %7.1f M %6.0f KB %4.0f µs\n", w.model, w.what, launches, s.chunks, s.samples,
			s.needs/1e9, s.executes/1e9, s.chunks*float64(l.Size())/1e6, memory/1e3, s.floor(l)*1e6)
	}
	return b.String()
}

// The package's comment has the predictions as they follow from the program.
func TestPredictionsInTheComment(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	if want := table(t); !strings.Contains(string(text), want) {
		t.Errorf("doc.go doesn't have\n%s", want)
	}
}

// What the emulated device counts is what was predicted: four launches for a step of all runs, multiply-adds to the last
// one, and one atomic addition for each parameter of each chunk whose sum isn't 0.
func TestCosts(t *testing.T) {
	l := kernelsOrSkip(t)
	graphs := map[string]int{"cnn": 30, "mlp": 70, "convolutions with stride, padding and dilation": 90, "the same filter twice": 20,
		"weight and its transpose": 40, "many rows within a sample": 33}
	for name, samples := range graphs {
		p := enginetest.Zoo()[name].Program(t, 2)
		code, err := lower(p)
		if err != nil {
			t.Fatal(err)
		}
		d, err := l.Device(seeds.Add(1))
		if err != nil {
			t.Fatal(err)
		}
		e := newEngine([]driver.Device{d}, "cuda, emulated", emulatedThreads, nil)
		loaded, err := e.Load(p, enginetest.RandomData(p, samples, 2))
		if err != nil {
			t.Fatal(err)
		}
		j := jobOf(p, engine.LayoutOf(p).Join(p.Initial()), samples)
		runs, err := loaded.Start(j, j)
		if err != nil {
			t.Fatal(err)
		}
		want := 0
		atomics := 0
		for step := range 2 {
			cuts := engine.Chunks(j.Minibatch(step, everyone(samples), nil), code.chunk, nil)
			for k := range len(cuts) - 1 {
				executes, needs := code.multiplyAdds(cuts[k+1] - cuts[k])
				if executes < needs {
					t.Errorf("%s: %d multiply-adds executed, %d needed", name, executes, needs)
				}
				want += executes
				atomics += p.Size()
			}
		}
		before := d.Counters()
		if err := runs.Steps(context.Background(), 2, 2); err != nil {
			t.Fatal(err)
		}
		after := d.Counters()
		if got := after.MultiplyAdds - before.MultiplyAdds; got != uint64(2*want) {
			t.Errorf("%s: %d multiply-adds, predicted were %d", name, got, 2*want)
		}
		if got := after.Launches - before.Launches; got != 2*launches {
			t.Errorf("%s: %d launches for two steps of two runs", name, got)
		}
		if got := float64(after.Atomics-before.Atomics) / float64(2*atomics); math.Abs(got-1) > 0.02 && got > 1 || got < 0.5 {
			t.Errorf("%s: %v times the atomic additions predicted", name, got)
		}
		if err := runs.Close(); err != nil {
			t.Error(err)
		}
		if err := loaded.Close(); err != nil {
			t.Error(err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}
