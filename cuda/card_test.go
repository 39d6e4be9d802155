package cuda

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/cuda/internal/driver"
	"github.com/dptrain/dptrain/cuda/internal/emulator"
	"github.com/dptrain/dptrain/cuda/internal/walk"
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
	enginetest.Suite{Engine: func() engine.Engine { return e }, Inspect: inspect, Tolerance: 2e-4, Short: testing.Short()}.Run(t)
}

func TestCardTenStepsOfTheModels(t *testing.T) {
	e := cardOrSkip(t)
	tenSteps(t, func() engine.Engine { return e })
}

// stepped is a group of runs that a benchmark takes steps of.
type stepped struct {
	runs    engine.Runs
	close   func() error
	lowered *walk.Program // nil on other engines
}

// beginning loads made-up data of a workload's size, and starts runs.
func (w workload) beginning(b *testing.B, e engine.Engine, runs int) stepped {
	b.Helper()
	p, initial := network(b, w.model)
	resident, err := e.Load(p, dataOf(w.model)(p, w.places, 1))
	if err != nil {
		b.Fatal(err)
	}
	var members []int32
	for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(w.places)[:w.inPlay] {
		members = append(members, int32(i))
	}
	slices.Sort(members)
	batch := w.rate * float64(w.inPlay)
	var jobs []engine.Job
	for i := range runs {
		jobs = append(jobs, engine.Job{
			Members: members, Key: random.InsecureKey(1), Trial: uint32(i), Initial: initial,
			Mechanism: engine.Mechanism{SamplingProbability: w.rate, NoiseMultiplier: 1, ClippingNorm: 1, ExpectedBatchSize: batch},
			Optimizer: engine.Optimizer{Method: engine.SGD, LearningRate: 0.01},
		})
	}
	started, err := resident.Start(jobs...)
	if err != nil {
		b.Fatal(err)
	}
	s := stepped{runs: started, close: func() error { return errors.Join(started.Close(), resident.Close()) }}
	if _, ok := resident.(*loaded); ok {
		if s.lowered, err = walk.Lower(p); err != nil {
			b.Fatal(err)
		}
	}
	return s
}

// BenchmarkStep takes steps of the paper's workloads, alone and 16 runs together, noise and updates included, on
// samples that are made up: on this machine's GPUs with -card, on its cores with -cores, and on the emulated device
// with -emulated, which says nothing of time and shows that everything would run.
func BenchmarkStep(b *testing.B) {
	for name, e := range benched(b) {
		for _, w := range workloads() {
			if name == "emulated" {
				w.places, w.inPlay = w.places/50, w.inPlay/50
			}
			for _, runs := range []int{1, 16} {
				b.Run(fmt.Sprintf("%s/%s/%s/runs=%d", name, w.model, w.what, runs), func(b *testing.B) {
					s := w.beginning(b, e, runs)
					defer s.close()
					take := func(n int) {
						if err := s.runs.Steps(context.Background(), slices.Repeat([]int{n}, runs)...); err != nil {
							b.Fatal(err)
						}
					}
					if name == "card" {
						take(20)
					}
					b.ResetTimer()
					take(b.N)
					b.StopTimer()
					perStep := b.Elapsed().Seconds() / float64(b.N)
					b.ReportMetric(float64(runs)*w.rate*float64(w.inPlay)/perStep, "samples/s")
					if s.lowered != nil && name == "card" {
						w.runs = runs
						b.ReportMetric(perStep/w.step(s.lowered, cyclesOf(b, w.model, 6000)).seconds(), "times-the-prediction")
					}
				})
			}
		}
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
		out["emulated"] = newEngine([]driver.Device{d}, "cuda, emulated", emulatedThreads, nil)
	}
	if len(out) == 0 {
		b.Skip("say where: -card, -cores or -emulated")
	}
	return out
}

// BenchmarkKernels takes each of a step's launches by itself, on a card: 15 trials, and the final run.
func BenchmarkKernels(b *testing.B) {
	e := cardOrSkip(b)
	for _, w := range workloads() {
		s := w.beginning(b, e, w.runs)
		p := s.runs.(*group).parts[0]
		// Runs that have far to go.
		if err := p.step.setClocks(make([]int, len(p.jobs)), slices.Repeat([]int{1 << 30}, len(p.jobs))); err != nil {
			b.Fatal(err)
		}
		ahead := p.step.ahead
		for _, k := range []struct {
			name   string
			launch func(wave) error
		}{
			{fmt.Sprintf("draw of %d steps", ahead), func(w wave) error { return p.step.draw(w, 0, ahead) }},
			{"clipped sums", func(w wave) error { return p.step.clippedSums(w, 0) }},
			{"update", func(w wave) error { return p.step.update(w, 0, 0) }},
			{fmt.Sprintf("%d steps", ahead), func(w wave) error { return p.step.take(w, 0, ahead) }},
		} {
			b.Run(fmt.Sprintf("%s/%s/%s", w.model, w.what, k.name), func(b *testing.B) {
				launch := func(n int) {
					for range n {
						if err := k.launch(p.step.waves()[0]); err != nil {
							b.Fatal(err)
						}
					}
					if err := p.device.Synchronize(); err != nil {
						b.Fatal(err)
					}
				}
				if err := p.step.draw(p.step.waves()[0], 0, ahead); err != nil { // something to sum
					b.Fatal(err)
				}
				launch(3)
				start := time.Now()
				launch(b.N)
				b.ReportMetric(float64(time.Since(start).Microseconds())/float64(b.N), "µs/launch")
			})
		}
		if err := s.close(); err != nil {
			b.Error(err)
		}
	}
}
