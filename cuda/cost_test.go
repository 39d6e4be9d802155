package cuda

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cuda/internal/driver"
	"github.com/dptrain/dptrain/cuda/internal/emulator"
	"github.com/dptrain/dptrain/cuda/internal/walk"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/enginetest"
	"github.com/dptrain/dptrain/internal/long"
)

// executed returns the number of multiply-adds that multiply executes for a result of batches × m × n in a number of
// steps: rows go by eight and columns by lanes, also where the result has fewer.
func executed(columns, batches, m, n, steps int) int {
	lanes := n / (walk.WarpSize * columns) * walk.WarpSize
	lanes += min(walk.WarpSize, n%(walk.WarpSize*columns))
	return batches * ((m + 7) / 8) * 8 * lanes * columns * steps
}

// multiplyAdds predicts how many multiply-adds a tile of n samples executes, and how many of them its results need.
func multiplyAdds(l *walk.Program, n int) (executes, needs int) {
	product := func(columns, batches, m, across, steps int) {
		executes += executed(columns, batches, m, across, steps)
		needs += batches * m * across * steps
	}
	for c := l.Gradient.Code; len(c) > 0; c = c[walk.Words:] {
		rows, k, nn := int(c[walk.WordRows]), int(c[walk.WordK]), int(c[walk.WordN])
		w := c[walk.WordC:]
		image, window := [2]int{int(w[1]), int(w[2])}, [2]int{int(w[3]), int(w[4])}
		pad, stride, dilation := [2]int{int(w[5]), int(w[6])}, [2]int{int(w[7]), int(w[8])}, [2]int{int(w[9]), int(w[10])}
		channels, filters, positions := int(w[0]), int(w[11]), int(w[12]*w[13])
		patch := channels * window[0] * window[1]
		switch c[walk.WordOp] {
		case walk.OpMatmul:
			parts := int(c[walk.WordParts])
			product(1, parts, n*rows, nn, k/parts)
		case walk.OpMatmulBack:
			product(1, 1, n*rows, k, nn)
		case walk.OpProduct:
			product(1, n*int(c[walk.WordGroups]), rows, nn, k)
		case walk.OpGradMatmul:
			if c[walk.WordTransposed] == 1 {
				k, nn = nn, k
			}
			product(1, n, k, nn, rows)
		case walk.OpConv:
			product(4, 1, filters, n*positions, patch)
		case walk.OpGradConv:
			columns := 2
			if patch > 64 {
				columns = 4
			}
			product(columns, n, filters, patch, positions)
		case walk.OpConvBack:
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
	for s := l.Sums; len(s) > 0; s = s[walk.SumWords:] {
		k, nn := int(s[walk.SumK]), int(s[walk.SumN])
		switch {
		case s[walk.SumRule] == walk.OfRows || s[walk.SumRule] == walk.OfGradient:
			executes += n * int(s[walk.SumSize])
			needs += n * int(s[walk.SumSize])
		default:
			if s[walk.SumTransposed] == 1 {
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

// trained returns the number of trained numbers.
func trained(l *walk.Program) (n int) {
	for _, t := range l.Params {
		n += t.Size
	}
	return n
}

// additions predicts how many numbers are added to the sums for some tiles of some samples altogether, if none of them
// is 0: one for each parameter of each tile, but of tables only for the rows that are picked.
func additions(l *walk.Program, tiles, samples float64) float64 {
	n := tiles * float64(trained(l))
	for s := l.Sums; len(s) > 0; s = s[walk.SumWords:] {
		if s[walk.SumRule] == walk.OfRows {
			n += samples*float64(s[walk.SumSize]) - tiles*float64(s[walk.SumK])*float64(s[walk.SumN])
		}
	}
	return n
}

// workload is runs that advance together in the paper's experiments: 15 trials on a tenth of a data set, or the final
// run on the rest.
type workload struct {
	model, what          string
	rate                 float64 // of sampling
	runs, places, inPlay int
}

func workloads() []workload {
	var out []workload
	add := func(model string, rate float64, places int) {
		out = append(out, workload{model, "15 trials", rate, 15, places, places / 10}, workload{model, "final run", rate, 1, places, places - places/10})
	}
	for _, model := range []string{"cnn", "mlp"} {
		add(model, 0.0213, 60000)
	}
	add(texts, 0.0256, 25000)
	return out
}

// cycles are those in which the busiest scheduler of a multiprocessor issues instructions, by the emulated device's
// count of the committed PTX: of a tile of n samples, which is cycles.tile[n], and of a run's draws and update, by all
// of their blocks together.
type cycles struct {
	tile         []float64
	draw, update float64
}

// cyclesOf measures them on a block of a GPU's threads.
func cyclesOf(t testing.TB, model string, members int) (out cycles) {
	t.Helper()
	l, err := library()
	if err != nil {
		t.Fatal(err)
	}
	p, initial := network(t, model)
	d, err := l.Device(1)
	if err != nil {
		t.Fatal(err)
	}
	e := newEngine([]driver.Device{sized{Device: d, multiprocessors: 1}}, "cuda, emulated", gpuThreads, nil)
	loaded, err := e.Load(p, dataOf(model)(p, members, 1))
	if err != nil {
		t.Fatal(err)
	}
	runs, err := loaded.Start(jobOf(p, initial, members))
	if err != nil {
		t.Fatal(err)
	}
	part := runs.(*group).parts[0]
	s, w := part.step, part.step.waves()[0]
	if err := s.setClocks([]int{0}, []int{1 << 30}); err != nil {
		t.Fatal(err)
	}
	measured := func(do func() error) emulator.Counters {
		before := d.Counters()
		if err := do(); err != nil {
			t.Fatal(err)
		}
		after := d.Counters()
		after.Cycles -= before.Cycles
		after.Busiest -= before.Busiest
		return after
	}
	out.draw = float64(measured(func() error { return s.draw(w, 0, s.ahead) }).Cycles) / float64(s.ahead)
	code, err := walk.Lower(p)
	if err != nil {
		t.Fatal(err)
	}
	out.tile = make([]float64, 1, code.Tile+1)
	for n := 1; n <= code.Tile; n++ {
		out.tile = append(out.tile, float64(measured(func() error {
			_, _, err := inspect(runs).ClippedSum(0, allOf(n))
			return err
		}).Busiest))
	}
	out.update = float64(measured(func() error { return s.update(w, 0, 0) }).Cycles)
	if err := errors.Join(runs.Close(), loaded.Close(), e.Close()); err != nil {
		t.Fatal(err)
	}
	return out
}

// prediction is the cost of a step of a workload: tiles and samples of all runs; multiply-adds executed and needed;
// cycles of the busiest multiprocessor for gradients, and their mean; cycles for draws and updates, which all share;
// additions to the grid; and coordinates that get noise. It is a mean over minibatches.
type prediction struct{ samples, tiles, executes, needs, busiest, mean, rest, additions, noised float64 }

// tilesOf returns the samples in each tile of a block. It takes an even share of a line in which each run has its
// samples and six places more, in tiles of one run's samples, which are as even.
func tilesOf(sizes []int, most, block, blocks int) (tiles []int) {
	line := 0
	for _, n := range sizes {
		line += n + overhead(n)
	}
	from, to, before := line*block/blocks, line*(block+1)/blocks, 0
	for _, size := range sizes {
		left := min(to, before+size) - max(from, before)
		for left > 0 {
			n := left / ((left + most - 1) / most)
			tiles = append(tiles, n)
			left -= n
		}
		before += size + overhead(size)
	}
	return tiles
}

func overhead(samples int) int {
	if samples == 0 {
		return 0
	}
	return 6
}

func (w workload) step(l *walk.Program, c cycles) (out prediction) {
	r := rand.New(rand.NewPCG(1, 2))
	const draws = 50
	for range draws {
		var sizes []int
		all := 0
		for range w.runs {
			n := 0
			for range w.inPlay {
				if r.Float64() < w.rate {
					n++
				}
			}
			sizes = append(sizes, n)
			all += n
		}
		busiest := 0.0
		for block := range multiprocessors {
			busy := 0.0
			for _, n := range tilesOf(sizes, l.Tile, block, multiprocessors) {
				executes, needs := multiplyAdds(l, n)
				out.executes += float64(executes) / draws
				out.needs += float64(needs) / draws
				out.tiles += 1. / draws
				busy += c.tile[n]
			}
			busiest = max(busiest, busy)
			out.mean += busy / multiprocessors / draws
		}
		out.samples += float64(all) / draws
		out.busiest += busiest / draws
	}
	out.rest = float64(w.runs) * (c.draw + c.update) / multiprocessors
	out.additions, out.noised = additions(l, out.tiles, out.samples), float64(w.runs*trained(l))
	return out
}

// An H100 (SXM): multiprocessors, cycles and bytes of memory in a second. The update reads and writes a sum of eight
// bytes and a parameter of four. The rate of atomic additions of eight bytes is a guess, which a measurement should
// replace: one a cycle for each of the level-2 cache's 80 slices.
const (
	multiprocessors = 132
	cyclesPerSecond = 1.755e9
	bytesPerSecond  = 3.35e12
	bytesUpdated    = 24
	atomicsPerCycle = 80
	launchSeconds   = 2e-6
	launches        = 2
)

// seconds returns the time of a step if no scheduler waits for a result.
func (p prediction) seconds() float64 {
	busy := (p.busiest + math.Max(p.rest, p.noised*bytesUpdated/bytesPerSecond*cyclesPerSecond)) / cyclesPerSecond
	return launches*launchSeconds + math.Max(busy, p.additions/(atomicsPerCycle*cyclesPerSecond))
}

// table predicts each workload's step and the floor that it gives, as the package's comment has it.
func table(t *testing.T) string {
	var b strings.Builder
	measured := map[string]cycles{}
	fmt.Fprintf(&b, "//	%-4s %-9s %6s %7s %8s %8s %7s %6s %7s %9s %9s %7s %8s\n", "", "a step of", "tiles", "samples", "needs", "executes", "atomics", "noise", "memory", "gradients", "(mean)", "rest", "time")
	for _, w := range workloads() {
		p, _ := network(t, w.model)
		l, err := walk.Lower(p)
		if err != nil {
			t.Fatal(err)
		}
		if measured[w.model].tile == nil {
			measured[w.model] = cyclesOf(t, w.model, 6000)
		}
		s := w.step(l, measured[w.model])
		memory := 4 * float64(l.Tile*(l.Gradient.Memory.Floats+l.Gradient.Memory.Indices))
		fmt.Fprintf(&b, "//	%-4s %-9s %6.0f %7.0f %6.2f G %6.2f G %5.1f M %4.1f M %4.0f KB %7.2f M %7.2f M %5.2f M %5.0f µs\n", w.model, w.what, s.tiles, s.samples,
			s.needs/1e9, s.executes/1e9, s.additions/1e6, s.noised/1e6, memory/1e3, s.busiest/1e6, s.mean/1e6, s.rest/1e6, s.seconds()*1e6)
	}
	return b.String()
}

// The package's comment has the predictions as they follow from the program.
func TestPredictionsInTheComment(t *testing.T) {
	long.Only(t)
	kernelsOrSkip(t)
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	if want := table(t); !strings.Contains(string(text), want) {
		t.Errorf("doc.go doesn't have\n%s", want)
	}
}

// The emulated device counts what was predicted: two launches for a step of all runs and one for draws, multiply-adds
// to the last one, and an atomic addition for each number that isn't 0.
func TestCosts(t *testing.T) {
	l := compiledOrSkip(t, sourcesLibrary)
	graphs := map[string]int{"cnn": 30, "mlp": 70, "convolutions with stride, padding and dilation": 90, "the same filter twice": 20,
		"weight and its transpose": 40, "many rows within a sample": 33,
		"few indices, many rows": 50, "embedding classifier": 60, "a table looked up twice": 40}
	for name, samples := range graphs {
		p := enginetest.Zoo()[name].Program(t, 2)
		code, err := walk.Lower(p)
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
		atomics := 0.0
		for step := range 2 {
			n := len(j.Minibatch(step, allOf(samples), nil))
			blocks := d.Info().Multiprocessors
			for block := range blocks {
				for _, n := range tilesOf([]int{n, n}, code.Tile, block, blocks) {
					executes, needs := multiplyAdds(code, n)
					if executes < needs {
						t.Errorf("%s: %d multiply-adds executed, %d needed", name, executes, needs)
					}
					want += executes
					atomics += additions(code, 1, float64(n))
				}
			}
		}
		before := d.Counters()
		if err := runs.Steps(context.Background(), 2, 2); err != nil {
			t.Fatal(err)
		}
		after := d.Counters()
		if got := after.MultiplyAdds - before.MultiplyAdds; got != uint64(want) {
			t.Errorf("%s: %d multiply-adds, predicted were %d", name, got, want)
		}
		// The host looks at the device after the first step, so that minibatches are drawn twice.
		if got := after.Launches - before.Launches; got != 2*launches+2 {
			t.Errorf("%s: %d launches for two steps of two runs", name, got)
		}
		if got := float64(after.Atomics-before.Atomics) / atomics; math.Abs(got-1) > 0.02 && got > 1 || got < 0.5 {
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
