package cuda

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cuda/internal/driver"
	"github.com/dptrain/dptrain/cuda/internal/emulator"
	"github.com/dptrain/dptrain/cuda/internal/walk"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/enginetest"
)

// prefix is a device on which clipped_sums executes only the first instructions of a program, and measures and sums
// gradients only if it is told to.
type prefix struct {
	driver.Device
	instructions int
	sums         bool
}

func (p *prefix) Launch(kernel string, blocks, threads int, arguments ...any) error {
	if program, ok := arguments[0].(driver.Struct); ok && kernel == "clipped_sums" {
		const instructions, reduced = 5, 11 // words of gradient_program, by their low halves; see program.cuh
		cut := slices.Clone(program)
		cut[instructions] = cut[instructions]>>32<<32 | uint64(uint32(p.instructions))
		if !p.sums {
			cut[reduced] = cut[reduced] >> 32 << 32
		}
		arguments = append([]any{cut}, arguments[1:]...)
	}
	return p.Device.Launch(kernel, blocks, threads, arguments...)
}

// sweep measures clipped_sums with none of a program's instructions, with the first, the first two and so on, and at
// the end with norms and sums too.
func (p *prefix) sweep(l *walk.Program, measure func() float64) []float64 {
	var out []float64
	last := len(l.Gradient.Code) / walk.Words
	for p.instructions = 0; p.instructions < last; p.instructions++ {
		out = append(out, measure())
	}
	out = append(out, measure())
	p.sums = true
	out = append(out, measure())
	p.sums = false
	return out
}

// reportParts reports the differences of what a sweep measured: what each instruction adds, and norms and sums.
func reportParts(b *testing.B, l *walk.Program, sweep []float64, unit string) {
	names := []string{"no instruction"}
	for c := l.Gradient.Code; len(c) > 0; c = c[walk.Words:] {
		names = append(names, fmt.Sprintf("%02d %s %d", len(names)-1, opcodeNames[c[walk.WordOp]], c[walk.WordSize]))
	}
	before := 0.0
	for i, name := range append(names, "norms and sums") {
		b.Run(name, func(b *testing.B) {
			b.ReportMetric(0, "ns/op") // hides the time of a loop that is empty
			b.ReportMetric(sweep[i]-before, unit)
		})
		before = sweep[i]
	}
}

// opcodeNames are the names of operations, by opcode.
var opcodeNames = strings.Fields("unary binary scalar matmul conv maxpool gather scatter softmax logsoftmax fill " +
	"unary_back binary_back scalar_back matmul_back conv_back maxpool_back softmax_back logsoftmax_back " +
	"grad_matmul grad_conv lookup grad_lookup merge product normalize normalize_back dropout")

// BenchmarkCycles reports how many cycles each instruction of a model's program takes for a tile of five samples, by
// the emulated device's count, and its norms and sums: what a change of the kernels makes faster.
func BenchmarkCycles(b *testing.B) {
	l, err := library()
	if errors.Is(err, emulator.ErrNoCompiler) {
		b.Skip(err)
	}
	if err != nil {
		b.Fatal(err)
	}
	const samples = 5
	for _, model := range []string{"cnn", "mlp", texts} {
		b.Run(model, func(b *testing.B) {
			d, err := l.Device(1)
			if err != nil {
				b.Fatal(err)
			}
			device := &prefix{Device: sized{Device: d, multiprocessors: 1}}
			p, initial := network(b, model)
			code, err := walk.Lower(p)
			if err != nil {
				b.Fatal(err)
			}
			e := newEngine([]driver.Device{device}, "cuda, emulated", gpuThreads, nil)
			loaded, err := e.Load(p, dataOf(model)(p, samples, 1))
			if err != nil {
				b.Fatal(err)
			}
			runs, err := loaded.Start(jobOf(p, initial, samples))
			if err != nil {
				b.Fatal(err)
			}
			reportParts(b, code, device.sweep(code, func() float64 {
				before := d.Counters().Busiest
				if _, _, err := inspect(runs).ClippedSum(0, allOf(samples)); err != nil {
					b.Fatal(err)
				}
				return float64(d.Counters().Busiest - before)
			}), "cycles")
			if err := errors.Join(runs.Close(), loaded.Close()); err != nil {
				b.Error(err)
			}
		})
	}
}

// BenchmarkInstructions reports how long each instruction of a workload's program takes, for the minibatches of a step:
// some three seconds of launches on a card. A mean over launches is taken of every prefix, five times in turn, and the
// differences are those of the minima. A prefix that is shorter than its launch takes a few microseconds all the same.
func BenchmarkInstructions(b *testing.B) {
	turns, each := 5, 10
	if *emulatedDevice {
		turns, each = 1, 1
	}
	eachWorkload(b, func(b *testing.B, w workload, e *Engine) {
		device := &prefix{Device: e.devices[0]}
		l := w.launcher(b, e, device)
		code, err := walk.Lower(l.loaded.(*loaded).program)
		if err != nil {
			b.Fatal(err)
		}
		var minima []float64
		for range turns {
			for i, t := range device.sweep(code, func() float64 {
				return l.microseconds(b, each, func(w wave) error { return l.step.clippedSums(w, 0, 0) })
			}) {
				if i == len(minima) {
					minima = append(minima, t)
				}
				minima[i] = min(minima[i], t)
			}
		}
		reportParts(b, code, minima, "µs")
		l.close(b)
	})
}

// A longer prefix does more, and only the last one measures and sums: what the kernel does that isn't cut.
func TestPrefix(t *testing.T) {
	const samples = 4
	p := enginetest.MLP(t, 6, 5, 3)
	code, err := walk.Lower(p)
	if err != nil {
		t.Fatal(err)
	}
	d, err := kernelsOrSkip(t).Device(seeds.Add(1))
	if err != nil {
		t.Fatal(err)
	}
	clippedSum := func(d driver.Device) func() (sum, norms []float64) {
		e := newEngine([]driver.Device{d}, "cuda, emulated", emulatedThreads, nil)
		loaded, err := e.Load(p, enginetest.RandomData(p, samples, 1))
		if err != nil {
			t.Fatal(err)
		}
		runs, err := loaded.Start(jobOf(p, engine.LayoutOf(p).Join(p.Initial()), samples))
		if err != nil {
			t.Fatal(err)
		}
		return func() (sum, norms []float64) {
			if sum, norms, err = inspect(runs).ClippedSum(0, allOf(samples)); err != nil {
				t.Fatal(err)
			}
			return sum, norms
		}
	}
	cut := &prefix{Device: sized{Device: d, multiprocessors: 1}}
	ofPrefix := clippedSum(cut)
	wantSum, wantNorms := clippedSum(d)()
	var sum, norms []float64
	sweep := cut.sweep(code, func() float64 {
		before := d.Counters().Busiest
		if sum, norms = ofPrefix(); !cut.sums && !slices.Equal(slices.Concat(sum, norms), make([]float64, len(sum)+len(norms))) {
			t.Errorf("%d instructions: sum %v, norms %v", cut.instructions, sum, norms)
		}
		return float64(d.Counters().Busiest - before)
	})
	if want := len(code.Gradient.Code)/walk.Words + 2; len(sweep) != want || len(slices.Compact(slices.Clone(sweep))) != want || !slices.IsSorted(sweep) {
		t.Errorf("%d prefixes take %v cycles", want, sweep)
	}
	if !slices.Equal(sum, wantSum) || !slices.Equal(norms, wantNorms) {
		t.Errorf("sum %v, norms %v, without a cut %v and %v", sum, norms, wantSum, wantNorms)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}
