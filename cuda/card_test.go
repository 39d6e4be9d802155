package cuda

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/cuda/internal/driver"
	"github.com/dptrain/dptrain/cuda/internal/emulator"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/enginetest"
	"github.com/dptrain/dptrain/internal/random"
)

// What runs on a card is asked for, so that the same tests mean the same on every machine.
var card = flag.Bool("card", false, "run the tests and benchmarks that need a GPU, on this machine's")

// cards are this machine's GPUs, opened once and never closed.
var cards = sync.OnceValues(func() (*Engine, error) { return New(Options{}) })

// cardOrSkip returns the engine on this machine's GPUs.
func cardOrSkip(t testing.TB) *Engine {
	t.Helper()
	if !*card {
		t.Skip("needs a GPU, and -card to use it")
	}
	e, err := cards()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// shared is a device that others go on using.
type shared struct{ driver.Device }

func (shared) Close() error { return nil }

// Draws, noise and updates are package engine's to the bit, on a card.
func TestCardKeepsTheContractToTheBit(t *testing.T) {
	e := cardOrSkip(t)
	for i, d := range e.devices {
		t.Run(fmt.Sprintf("%d %s", i, d.Info().Name), func(t *testing.T) {
			open := func(uint64) (driver.Device, error) { return shared{d}, nil }
			drawsOn(t, open)
			updatesOn(t, open)
		})
	}
}

// The engine keeps the contract on a card: the whole suite.
func TestCardSuite(t *testing.T) {
	e := cardOrSkip(t)
	enginetest.Suite{Engine: func() engine.Engine { return e }, Inspect: inspect, Tolerance: 2e-4}.Run(t)
}

func TestCardTenStepsOfTheModels(t *testing.T) {
	e := cardOrSkip(t)
	tenSteps(t, func() engine.Engine { return e }, 40, 10)
}

// onCard opens this machine's first GPU with PTX or with machine code, and calls f with an engine on it.
func onCard(t testing.TB, what string, f func(*Engine)) {
	t.Helper()
	if !*card {
		t.Skip("needs a GPU, and -card to use it")
	}
	s, err := system()
	if err != nil {
		t.Fatal(err)
	}
	all, err := devices(s)
	if err != nil {
		t.Fatal(err)
	}
	files, err := images()
	if what == "machine code" {
		files, err = machineCode(all[0])
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skipf("there is no %s for compute capability %d.%d", what, all[0].Major, all[0].Minor)
	}
	d, err := s.Open(0, files...)
	if err != nil {
		t.Fatal(err)
	}
	e := newEngine([]driver.Device{d}, "", gpuThreads, nil)
	f(e)
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// A card computes the same bits by machine code as by the PTX that its driver compiles: gradients, which no noise
// hides, and outputs.
func TestCardMachineCodeIsThatOfThePTX(t *testing.T) {
	for _, model := range []string{"cnn", "mlp", texts} {
		t.Run(model, func(t *testing.T) {
			p, initial := network(t, model)
			const samples = 40
			data := dataOf(model)(p, samples, 2)
			computed := map[string][]any{}
			for _, what := range []string{"machine code", "PTX"} {
				onCard(t, what, func(e *Engine) {
					loaded, err := e.Load(p, data)
					if err != nil {
						t.Fatal(err)
					}
					runs, err := loaded.Start(jobOf(p, initial, samples))
					if err != nil {
						t.Fatal(err)
					}
					sum, norms, err := inspect(runs).ClippedSum(0, allOf(samples))
					if err != nil {
						t.Fatal(err)
					}
					out, err := runs.Predict(context.Background(), data, 0)
					if err := errors.Join(err, runs.Close(), loaded.Close()); err != nil {
						t.Fatal(err)
					}
					computed[what] = []any{sum, norms, out}
				})
			}
			if !reflect.DeepEqual(computed["machine code"], computed["PTX"]) {
				t.Error("sums, norms or outputs differ")
			}
		})
	}
}

// BenchmarkLoad reports how long it takes to start the driver with a context, and then to load the kernels and take a
// first small step, since drivers may load a kernel only when it is launched. Of PTX that is the driver's compiler, or
// its cache.
func BenchmarkLoad(b *testing.B) {
	if !*card {
		b.Skip("needs a GPU, and -card to use it")
	}
	start := time.Now()
	s, err := system()
	if err != nil {
		b.Fatal(err)
	}
	held, err := s.Open(0)
	if err != nil {
		b.Fatal(err)
	}
	started := time.Since(start)
	b.Run("context", func(b *testing.B) {
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(started.Seconds()*1e3, "ms")
	})
	p := enginetest.MLP(b, 6, 5, 3)
	j := jobOf(p, engine.LayoutOf(p).Join(p.Initial()), 50)
	for _, what := range []string{"machine code", "PTX"} {
		b.Run(what, func(b *testing.B) {
			for range b.N {
				onCard(b, what, func(e *Engine) {
					if _, err := outcomeOf(e, p, enginetest.RandomData(p, 50, 1), []engine.Job{j}); err != nil {
						b.Fatal(err)
					}
				})
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(b.N), "ms")
		})
	}
	if err := held.Close(); err != nil {
		b.Error(err)
	}
}

// rehearsed is a small part of a workload, which the emulated device takes in seconds.
func (w workload) rehearsed() workload {
	w.places, w.inPlay, w.runs = w.places/50, w.inPlay/50, min(w.runs, 2)
	return w
}

// onEngine is a workload that an engine has loaded.
type onEngine struct {
	workload
	initial []float32
	loaded  engine.Loaded
}

// load loads made-up data of a workload's size.
func (w workload) load(b *testing.B, e engine.Engine) onEngine {
	b.Helper()
	p, initial := network(b, w.model)
	l, err := e.Load(p, dataOf(w.model)(p, w.places, 1))
	if err != nil {
		b.Fatal(err)
	}
	return onEngine{w, initial, l}
}

// start starts runs of the workload.
func (w onEngine) start(b *testing.B, runs int) engine.Runs {
	b.Helper()
	var members []int32
	for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(w.places)[:w.inPlay] {
		members = append(members, int32(i))
	}
	slices.Sort(members)
	batch := w.rate * float64(w.inPlay)
	var jobs []engine.Job
	for i := range runs {
		jobs = append(jobs, engine.Job{
			Members: members, Key: random.InsecureKey(1), Trial: uint32(i), Initial: w.initial,
			Mechanism: engine.Mechanism{SamplingProbability: w.rate, NoiseMultiplier: 1, ClippingNorm: 1, ExpectedBatchSize: batch},
			Optimizer: engine.Optimizer{Method: engine.SGD, LearningRate: 0.01},
		})
	}
	started, err := w.loaded.Start(jobs...)
	if err != nil {
		b.Fatal(err)
	}
	return started
}

// BenchmarkStep takes steps of the paper's workloads, alone and 16 runs together, noise and updates included, on
// samples that are made up: on this machine's GPUs with -card, on its cores with -cores, and on the emulated device
// with -emulated, which says nothing of time and shows that everything would run.
func BenchmarkStep(b *testing.B) {
	for name, e := range benched(b) {
		for _, w := range workloads() {
			if name == "emulated" {
				w = w.rehearsed()
			}
			b.Run(fmt.Sprintf("%s/%s/%s", name, w.model, w.what), func(b *testing.B) {
				on := w.load(b, e)
				for _, n := range []int{1, 16} {
					b.Run(fmt.Sprintf("runs=%d", n), func(b *testing.B) { on.steps(b, n, name == "card") })
				}
				if err := on.loaded.Close(); err != nil {
					b.Error(err)
				}
			})
		}
	}
}

// steps measures steps of a number of runs, if it should after some that it doesn't measure: a GPU's clock takes time
// to rise, and the engine finds out how many steps to launch at once.
func (w onEngine) steps(b *testing.B, runs int, warm bool) {
	started := w.start(b, runs)
	take := func(n int) {
		if err := started.Steps(context.Background(), slices.Repeat([]int{n}, runs)...); err != nil {
			b.Fatal(err)
		}
	}
	if warm {
		take(20)
	}
	b.ResetTimer()
	take(b.N)
	b.StopTimer()
	b.ReportMetric(float64(runs*b.N)*w.rate*float64(w.inPlay)/b.Elapsed().Seconds(), "samples/s")
	if err := started.Close(); err != nil {
		b.Error(err)
	}
}

var (
	cores          = flag.Bool("cores", false, "run the benchmarks on this machine's cores")
	emulatedDevice = flag.Bool("emulated", false, "run the benchmarks on the emulated device")
)

// benched are the engines that were asked for.
func benched(b *testing.B) map[string]engine.Engine {
	b.Helper()
	out := map[string]engine.Engine{}
	if *card {
		out["card"] = cardOrSkip(b)
	}
	if *cores {
		out["cores"] = cpu.New(cpu.Options{})
	}
	if *emulatedDevice {
		out["emulated"] = emulatedOrSkip(b)
	}
	if len(out) == 0 {
		b.Skip("say where: -card, -cores or -emulated")
	}
	return out
}

// emulatedOrSkip returns an engine on an emulated device.
func emulatedOrSkip(b *testing.B) *Engine {
	b.Helper()
	l, err := library()
	if errors.Is(err, emulator.ErrNoCompiler) {
		b.Skip(err)
	}
	if err != nil {
		b.Fatal(err)
	}
	d, err := l.Device(1)
	if err != nil {
		b.Fatal(err)
	}
	return newEngine([]driver.Device{d}, "cuda, emulated", emulatedThreads, nil)
}

// launcher is a workload's runs on one device, for benchmarks that launch a step's kernels themselves.
type launcher struct {
	onEngine
	*part
	wave wave
}

// launcher loads a workload on a device of an engine and starts its runs.
func (w workload) launcher(b *testing.B, e *Engine, d driver.Device) launcher {
	b.Helper()
	on := w.load(b, newEngine([]driver.Device{d}, e.arithmetic, e.threads, nil))
	l := launcher{onEngine: on, part: on.start(b, w.runs).(*group).parts[0]}
	l.wave = l.step.waves()[0]
	// Runs that have far to go.
	if err := l.step.setClocks(make([]int, w.runs), slices.Repeat([]int{1 << 30}, w.runs)); err != nil {
		b.Fatal(err)
	}
	if err := l.step.draw(l.wave, 0, l.step.ahead); err != nil { // something to sum
		b.Fatal(err)
	}
	return l
}

func (l launcher) close(b *testing.B) {
	if err := errors.Join(l.part.free(), l.loaded.Close()); err != nil {
		b.Error(err)
	}
}

// microseconds returns the mean time of n launches between two looks at the device.
func (l launcher) microseconds(b *testing.B, n int, launch func(wave) error) float64 {
	if err := l.device.Synchronize(); err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	for range n {
		if err := launch(l.wave); err != nil {
			b.Fatal(err)
		}
	}
	if err := l.device.Synchronize(); err != nil {
		b.Fatal(err)
	}
	return time.Since(start).Seconds() * 1e6 / float64(n)
}

// eachWorkload calls f with each workload and the device to launch on: this machine's first GPU with -card, or the
// emulated device with -emulated, with a small part of the workload.
func eachWorkload(b *testing.B, f func(*testing.B, workload, *Engine)) {
	var e *Engine
	if *emulatedDevice {
		e = emulatedOrSkip(b)
	} else {
		e = cardOrSkip(b)
	}
	for _, w := range workloads() {
		if *emulatedDevice {
			w = w.rehearsed()
		}
		b.Run(w.model+"/"+w.what, func(b *testing.B) { f(b, w, e) })
	}
}

// BenchmarkKernels takes each of a step's launches by itself: 15 trials, and the final run.
func BenchmarkKernels(b *testing.B) {
	eachWorkload(b, func(b *testing.B, w workload, e *Engine) {
		l := w.launcher(b, e, e.devices[0])
		for _, k := range []struct {
			name   string
			launch func(wave) error
		}{
			{fmt.Sprintf("draw of %d steps", l.step.ahead), func(w wave) error { return l.step.draw(w, 0, l.step.ahead) }},
			{"clipped sums", func(w wave) error { return l.step.clippedSums(w, 0, 0) }},
			{"update", func(w wave) error { return l.step.update(w, 0, 0) }},
			{fmt.Sprintf("%d steps", l.step.ahead), func(w wave) error { return l.step.take(w, 0, l.step.ahead) }},
		} {
			b.Run(k.name, func(b *testing.B) {
				l.microseconds(b, 3, k.launch)
				b.ReportMetric(l.microseconds(b, b.N, k.launch), "µs/launch")
			})
		}
		l.close(b)
	})
}
