package cuda

import (
	"io/fs"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/dptrain/dptrain/cuda/internal/driver"
	"github.com/dptrain/dptrain/cuda/internal/emulator"
	"github.com/dptrain/dptrain/cuda/internal/kernel"
	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/enginetest"
	"github.com/dptrain/dptrain/internal/random"
)

// opener opens devices; only emulated ones use the seed.
type opener func(seed uint64) (driver.Device, error)

func on(l *emulator.Library) opener {
	return func(seed uint64) (driver.Device, error) { return l.Device(seed) }
}

func device(t enginetest.TB, open opener, seed uint64) (d driver.Device, done func()) {
	t.Helper()
	d, err := open(seed)
	if err != nil {
		t.Fatal(err)
	}
	return d, func() {
		if err := d.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
}

// putOn uploads numbers.
func putOn[T driver.Number](t enginetest.TB, d driver.Device, numbers []T) driver.Pointer {
	t.Helper()
	p, err := driver.New(d, numbers)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// space allocates n words of up to 8 bytes, whose content is undefined.
func space(t enginetest.TB, d driver.Device, n int) driver.Pointer {
	t.Helper()
	p, err := d.Alloc(8 * n)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func get[T driver.Number](t enginetest.TB, d driver.Device, p driver.Pointer, at, n int) []T {
	t.Helper()
	out := make([]T, n)
	if err := driver.Download(d, out, p, at); err != nil {
		t.Fatal(err)
	}
	return out
}

// tables returns the runs' rows in the kernels' tables.
func tables(jobs []engine.Job, samples, size int, steps []int) (identities []uint32, clocks []int32, settings []float64) {
	for i, j := range jobs {
		identities = append(identities, identityOf(j)...)
		clocks = append(clocks, int32(steps[i]), 1<<30, int32(steps[i]))
		settings = append(settings, settingsOf(j, samples, size)...)
	}
	return identities, clocks, settings
}

// The device draws the minibatches of package engine, for all runs of a group and several steps at once.
func TestDrawsAreTheContracts(t *testing.T) { draws(t, kernelsOrSkip(t)) }

func draws(t enginetest.TB, l *emulator.Library) { drawsOn(t, on(l)) }

func drawsOn(t enginetest.TB, open opener) {
	const samples, slots, launched = 5000, 3, 5
	var members []int32
	r := rand.New(rand.NewPCG(1, 2))
	for i := range int32(samples) {
		if r.IntN(3) > 0 {
			members = append(members, i)
		}
	}
	var jobs []engine.Job
	var steps []int
	for i, p := range []float64{0, 0x1p-70, 0.001, 0.03, 0.999, 1 - 0x1p-53, 0.5, 0.4} {
		jobs = append(jobs, engine.Job{
			Members: members, Key: random.InsecureKey(uint64(i)), Trial: uint32(3 * i),
			Mechanism: engine.Mechanism{SamplingProbability: p, ClippingNorm: 1, ExpectedBatchSize: 1},
			Optimizer: engine.Optimizer{Method: engine.SGD},
		})
		steps = append(steps, i*i)
	}
	for !readsOn(&jobs[6], steps[6]+launched, members) {
		steps[6]++
	}
	for _, n := range []int{0, 1, 7, 8, 9, 64, 65, 2047, 2048, 2049, len(members)} {
		d, done := device(t, open, uint64(n))
		identities, clocks, _ := tables(jobs, samples, 1, steps)
		clocks[kernel.ClockColumns*7+kernel.ClockEnd] = int32(steps[7] + launched + 1) // the last run has one more step
		var lists []int64
		for range jobs {
			lists = append(lists, 0, int64(n))
		}
		width := n + random.MostInCell
		g := kernel.Group{
			Lists: putOn(t, d, lists), Members: putOn(t, d, members[:max(1, n)]),
		}
		m := kernel.Minibatches{
			Identities: putOn(t, d, identities), Clocks: putOn(t, d, clocks),
			Batches: space(t, d, slots*len(jobs)*width), Sizes: space(t, d, slots*len(jobs)),
			Runs: int32(len(jobs)), Width: int32(width), Taken: launched,
		}
		if err := d.Launch("draw_minibatches", slots*len(jobs), kernel.DrawThreads, driver.StructOf(&g), driver.StructOf(&m)); err != nil {
			t.Fatal(err)
		}
		for k := range slots * len(jobs) {
			slot, i := k/len(jobs), k%len(jobs)
			var want []int32
			if i < 7 || slot == 0 {
				want = jobs[i].Minibatch(steps[i]+launched+slot, members[:n], nil)
			}
			if got := get[int32](t, d, m.Sizes, k, 1)[0]; int(got) != len(want) {
				t.Fatalf("%d members, run %d, slot %d: drew %d samples, want %d", n, i, slot, got, len(want))
			}
			if got := get[int32](t, d, m.Batches, k*width, len(want)); !slices.Equal(got, want) {
				t.Fatalf("%d members, run %d, slot %d: other samples are drawn", n, i, slot)
			}
		}
		done()
	}
}

// readsOn reports whether a step draws four of a cell of eight that the first block of the cell's words doesn't name.
func readsOn(j *engine.Job, step int, members []int32) bool {
	batch := j.Minibatch(step, members, nil)
	words := j.Key.Stream(random.ID{Purpose: random.Minibatch, Trial: j.Trial, Step: uint32(step)})
	for cell := range len(members) / 8 {
		drawn, named := 0, map[uint64]bool{}
		for _, m := range members[8*cell:][:8] {
			if _, is := slices.BinarySearch(batch, m); is {
				drawn++
			}
		}
		words.Seek(uint64(64*cell + 2))
		for range 6 {
			w := words.Uint64()
			named[w>>61], named[w<<32>>61] = true, true
		}
		if drawn == 4 && len(named) < 4 {
			return true
		}
	}
	return false
}

// Noise, release and optimizers are package engine's to the bit.
func TestUpdatesAreTheContracts(t *testing.T) { updates(t, kernelsOrSkip(t)) }

func updates(t enginetest.TB, l *emulator.Library) { updatesOn(t, on(l)) }

func updatesOn(t enginetest.TB, open opener) {
	p := &compile.Program{}
	for _, n := range []int{37, 1, 250, 3, 64} {
		p.Params = append(p.Params, compile.Tensor{Size: n})
	}
	l := engine.LayoutOf(p)
	const samples = 700
	adam := engine.Optimizer{Method: engine.Adam, LearningRate: 0.05, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8}
	sgd := engine.Optimizer{Method: engine.SGD, LearningRate: 0.3}
	mechanism := func(noise, clip, batch float64) engine.Mechanism {
		return engine.Mechanism{SamplingProbability: 0.5, NoiseMultiplier: noise, ClippingNorm: clip, ExpectedBatchSize: batch}
	}
	jobs := []engine.Job{
		{Optimizer: sgd, Mechanism: mechanism(1.1, 0.5, 60)},
		{Optimizer: adam, Mechanism: mechanism(1.1, 0.5, 60)},
		{Optimizer: sgd, Mechanism: mechanism(0, 1, 60)},
		{Optimizer: adam, Mechanism: mechanism(0, 1, 1e-3)},
		{Optimizer: adam, Mechanism: mechanism(50, 1e-9, 7.3)},
		{Optimizer: sgd, Mechanism: mechanism(1e3, 1e9, 1e5)},
		{Optimizer: engine.Optimizer{Method: engine.Adam, LearningRate: -3, Beta1: 0, Beta2: 0.5, Epsilon: 0.25}, Mechanism: mechanism(0.02, 3, 1)},
		{Optimizer: sgd, Mechanism: mechanism(2, 1, 1)}, // rests
	}
	r := rand.New(rand.NewPCG(3, 4))
	var states []engine.State
	var steps []int
	for i := range jobs {
		jobs[i].Key, jobs[i].Trial = random.InsecureKey(uint64(9+i)), uint32(i)
		steps = append(steps, 7+i)
		s := engine.State{Step: steps[i], Params: make([]float32, l.Size), First: make([]float32, l.Size), Second: make([]float32, l.Size)}
		for k, from := range l.Offsets {
			for at := from; at < from+l.Lengths[k]; at++ {
				s.Params[at], s.First[at], s.Second[at] = r.Float32()-0.5, r.Float32()-0.5, r.Float32()
			}
		}
		states = append(states, s)
	}
	join := func(of func(engine.State) []float32) []float32 {
		var out []float32
		for _, s := range states {
			out = append(out, of(s)...)
		}
		return out
	}
	d, done := device(t, open, 5)
	defer done()
	const launched, slot = 4, 3
	from := slices.Clone(steps)
	for i := range from {
		from[i] -= launched + slot
	}
	identities, clocks, settings := tables(jobs, samples, l.Size, from)
	clocks[kernel.ClockColumns*(len(jobs)-1)+kernel.ClockEnd] = int32(steps[len(jobs)-1])
	sums := make([]int64, len(jobs)*l.Size)
	for i, j := range jobs {
		for k, from := range l.Offsets {
			for at := from; at < from+l.Lengths[k]; at++ {
				g := j.Mechanism.Grid(samples)
				sums[i*l.Size+at] = int64(math.RoundToEven((r.Float64() - 0.5) * 100 * j.Mechanism.ClippingNorm / g.Fine))
			}
		}
	}
	before := slices.Clone(sums)
	g := kernel.Group{
		Occupied:     putOn(t, d, occupied(l)),
		Firsts:       putOn(t, d, join(func(s engine.State) []float32 { return s.First })),
		Seconds:      putOn(t, d, join(func(s engine.State) []float32 { return s.Second })),
		UpdateBlocks: int32((l.Size + 8*32 - 1) / (8 * 32)),
	}
	m := kernel.Minibatches{
		Identities: putOn(t, d, identities), Clocks: putOn(t, d, clocks),
		Settings: putOn(t, d, settings), Sums: putOn(t, d, sums), Params: putOn(t, d, join(func(s engine.State) []float32 { return s.Params })),
		Runs: int32(len(jobs)), Size: int32(l.Size), Taken: launched, Slot: slot,
	}
	if err := d.Launch("release_and_update", len(jobs)*int(g.UpdateBlocks), 32, driver.StructOf(&g), driver.StructOf(&m)); err != nil {
		t.Fatal(err)
	}
	for i, j := range jobs {
		want := states[i]
		rests := i == len(jobs)-1
		if !rests {
			sum := make([]float64, l.Size)
			for k, units := range before[i*l.Size : (i+1)*l.Size] {
				sum[k] = float64(units) * j.Mechanism.Grid(samples).Fine
			}
			enginetest.After(p, j, &want, sum, samples)
		}
		for what, v := range map[string]struct {
			p    driver.Pointer
			want []float32
		}{"parameters": {m.Params, want.Params}, "first moments": {g.Firsts, want.First}, "second moments": {g.Seconds, want.Second}} {
			for k, got := range get[float32](t, d, v.p, i*l.Size, l.Size) {
				if math.Float32bits(got) != math.Float32bits(v.want[k]) {
					t.Fatalf("run %d: %s: coordinate %d is %v, want %v", i, what, k, got, v.want[k])
				}
			}
		}
		if got, want := get[int32](t, d, m.Clocks, kernel.ClockColumns*i+kernel.ClockDone, 1)[0], int32(want.Step); rests && got != int32(from[i]) || !rests && got != want {
			t.Errorf("run %d: %d steps are done, want %d", i, got, want)
		}
		for k, left := range get[int64](t, d, m.Sums, i*l.Size, l.Size) {
			if rests && left != before[i*l.Size+k] || !rests && left != 0 {
				t.Fatalf("run %d: sum %d is %d afterwards", i, k, left)
			}
		}
	}
}

// Each class of fault in the kernels of draws and updates must be found.
func TestMutantsAreFound(t *testing.T) {
	onlyIfChanged(t)
	for name, m := range map[string]struct {
		file, old, new string
		check          func(enginetest.TB, *emulator.Library)
	}{
		"a dropped barrier":        {"draw.cu", "		barrier(); // the sums have been read\n", "", draws},
		"sums read too early":      {"draw.cu", "		before -= number;\n		barrier();\n", "		before -= number;\n", draws},
		"a barrier for some":       {"draw.cu", "		barrier(); // the sums have been read", "		if (threadIdx.x > 0) barrier();", draws},
		"a number unwritten":       {"draw.cu", "		out.sizes[row] = n - imaginary[0];", "		;", draws},
		"the last cell forgotten":  {"draw.cu", "base < cells; base", "base + 1 < cells; base", draws},
		"a bound compared wrongly": {"draw.cu", "words[0] < high ||", "words[0] < high + (uint64_t(1) << 60) ||", draws},
		"the bound's lower half":   {"draw.cu", "(words[0] == high && words[1] < low)", "words[1] < low", draws},
		"lower halves first":       {"draw.cu", "half % 2 == 0 ? w >> 32", "half % 2 == 1 ? w >> 32", draws},
		"no block but the first":   {"draw.cu", "if (at / 8 != held)", "if (at / 8 > 8)", draws},
		"a sorted position twice":  {"draw.cu", "if (i < found && int32_t(out[i]) == at)", "if (i > found)", draws},
		"the others kept":          {"draw.cu", "== (2 * number <= size)", "== (2 * number < size)", draws},
		"a position twice":         {"draw.cu", "found += (drawn & bit) == 0;", "found++;", draws},
		"not sorted":               {"draw.cu", "int32_t(out[i - 1]) >= at)", "false)", draws},
		"imaginary members":        {"draw.cu", "imaginary[0] = number - written;", ";", draws},
		"members after the last":   {"draw.cu", "i < count; i++)\n\t\tif", "i <= count; i++)\n\t\tif", draws},
		"the first of all lanes":   {"draw.cu", "if (lane() >= reach)", "if (lane() > reach)", draws},
		"a warp's samples twice":   {"draw.cu", "if (w == warp)", "if (w == warp && w < 7)", draws},
		"the slot before":          {"draw.cu", "out.taken + slot;", "out.taken;", draws},
		"another run's list":       {"draw.cu", "out.batches + row * out.width", "out.batches + run * out.width", draws},
		"a run that never rests":   {"draw.cu", "bool rests = step >=", "bool rests = step >", draws},
		"an update that goes on":   {"update.cu", "if (taken >= int32_t", "if (taken > int32_t", updates},
		"steps that nobody counts": {"update.cu", "		clock[clock_done] = step + 1;", "		;", updates},
		"the slot's step":          {"update.cu", "drawn.taken + drawn.slot", "drawn.taken", updates},
		"noise twice":              {"update.cu", "sum + rint(normals[i] * noise)", "sum + 2 * rint(normals[i] * noise)", updates},
		"noise of the step before": {"update.cu", "noise_stream, step)", "noise_stream, step - 1)", updates},
		"noise not rounded":        {"update.cu", "rint((sum + rint(normals[i] * noise)) * coarsen)", "(sum + rint(normals[i] * noise)) * coarsen", updates},
		"the correction forgotten": {"update.cu", "sqrt(correction * v)", "sqrt(v)", updates},
		"a sum kept":               {"update.cu", "		drawn.sums[at] = 0ull;\n", "", updates},
		"padding moved":            {"update.cu", " || (uint32_t(runs.occupied[j / 32]) >> (j % 32) & 1) == 0", "", updates},
		"the step counted wrong":   {"update.cu", "power(b1, step + 1)", "power(b1, step)", updates},
		"another's settings":       {"update.cu", "drawn.settings + size_t(run) * setting_columns", "drawn.settings", updates},
		"a contracted product":     {"random.cuh", "double sine = fma(x, 0x1.921fb54442d18p+2, x * p);", "double sine = x * 0x1.921fb54442d18p+2 + x * p;", normals},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, err := build(t.Context(), changed(t, m.file, m.old, m.new))
			if err != nil {
				t.Fatal(err)
			}
			if found := enginetest.Reports(func(t enginetest.TB) { m.check(t, l) }); len(found) == 0 {
				t.Error("nobody sees it")
			} else {
				t.Log(found[0])
			}
		})
	}
}

// probe is a kernel for tests: it shows the noise before anything rounds it.
const probe = `
#include "run.cuh"

KERNEL(show_normals)(global<const uint32_t> identities, int32_t step, int n, global<double> out) {
	uint64_t words[8];
	int block = int(threadIdx.x);
	draw(stream_of(identities, noise_stream, step), uint32_t(block), words);
	for (int i = 0; i < 8; i += 2) {
		double a, b;
		normal_pair(words[i], words[i + 1], a, b);
		if (8 * block + i + 1 < n)
			out[8 * block + i] = a, out[8 * block + i + 1] = b;
	}
}
EXPORT(show_normals)
`

// Normals are the contract's to the bit.
func TestNormalsAreTheContracts(t *testing.T) {
	kernelsOrSkip(t)
	l, err := build(t.Context(), changed(t, "", "", ""))
	if err != nil {
		t.Fatal(err)
	}
	normals(t, l)
}

func normals(t enginetest.TB, l *emulator.Library) {
	const n = 4096
	d, done := device(t, on(l), 1)
	defer done()
	j := engine.Job{Key: random.InsecureKey(4), Trial: 77}
	out := space(t, d, n)
	if err := d.Launch("show_normals", 1, n/8, putOn(t, d, identityOf(j)), int32(12345), int32(n), out); err != nil {
		t.Fatal(err)
	}
	want := make([]float64, n)
	j.Normals(12345, 0, want)
	for i, got := range get[float64](t, d, out, 0, n) {
		if math.Float64bits(got) != math.Float64bits(want[i]) {
			t.Fatalf("normal %d is %x, want %x", i, got, want[i])
		}
	}
}

// changed returns the kernels of draws and updates and the probe, with one change in a file.
func changed(t *testing.T, file, old, new string) fs.FS {
	t.Helper()
	kernels := fstest.MapFS{"probe.cu": &fstest.MapFile{Data: []byte(probe)}}
	for _, name := range []string{"draw.cu", "update.cu", "run.cuh", "random.cuh"} {
		text := source(t, name)
		if name == file {
			other := strings.Replace(text, old, new, 1)
			if other == text {
				t.Fatalf("%s has no %q", file, old)
			}
			text = other
		}
		kernels[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return kernels
}
