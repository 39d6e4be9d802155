package cuda

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/cuda/internal/driver"
	"github.com/dptrain/dptrain/cuda/internal/emulator"
	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/enginetest"
	"github.com/dptrain/dptrain/internal/long"
	"github.com/dptrain/dptrain/internal/random"
	"github.com/dptrain/dptrain/models"
	"github.com/dptrain/dptrain/train"
)

// texts is the model of the paper's texts.
const texts = "imdb"

// network compiles one of the models, and draws initial parameters.
func network(t testing.TB, name string) (*compile.Program, []float32) {
	t.Helper()
	build := func(name string, o models.Options) (train.Model, error) {
		return models.New(name, []int{1, 28, 28}, 10, o)
	}
	if name == texts {
		build = func(_ string, o models.Options) (train.Model, error) {
			return models.EmbeddingClassifier(o, 28996, 256, 16, 16, 2)
		}
	}
	n, err := build(name, models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := compile.Compile(compile.Source{Inputs: n.Inputs, Params: n.Parameters, Output: n.Output, Cost: n.Cost})
	if err != nil {
		t.Fatal(err)
	}
	return p, engine.LayoutOf(p).Join(n.Initial(rand.NewPCG(1, 2)))
}

// dataOf makes samples that a model is meant for.
func dataOf(model string) func(p *compile.Program, samples int, seed uint64) *engine.Data {
	if model == texts {
		return enginetest.Texts
	}
	return enginetest.RandomData
}

func jobOf(p *compile.Program, initial []float32, samples int) engine.Job {
	return engine.Job{
		Mechanism: engine.Mechanism{SamplingProbability: 0.4, NoiseMultiplier: 1, ClippingNorm: 1, ExpectedBatchSize: 0.4 * float64(samples)},
		Optimizer: engine.Optimizer{Method: engine.SGD, LearningRate: 0.5},
		Key:       random.InsecureKey(3),
		Initial:   initial,
	}
}

// finish starts jobs, takes their steps, and returns their states and predictions.
func finish(t *testing.T, e engine.Engine, p *compile.Program, data *engine.Data, jobs []engine.Job, steps []int) ([]engine.State, [][]float32) {
	t.Helper()
	loaded, err := e.Load(p, data)
	if err != nil {
		t.Fatal(err)
	}
	runs, err := loaded.Start(jobs...)
	if err != nil {
		t.Fatal(err)
	}
	if err := runs.Steps(context.Background(), steps...); err != nil {
		t.Fatal(err)
	}
	var states []engine.State
	var which []int
	for i := range jobs {
		states, which = append(states, runs.State(i)), append(which, i)
	}
	out, err := runs.Predict(context.Background(), data, which...)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(runs.Close(), loaded.Close()); err != nil {
		t.Fatal(err)
	}
	return states, out
}

// Ten steps of the models, and daily three, end where the CPU engine's do, within what single precision's roundings
// grow to: draws, noise and updates are the same to the bit. Contributions are rounded to opposite sides of their
// products on the two engines, so a sum at the edge of two cells of the coarse grid may be released as either. That is
// of the size of the tolerance of DP-SGD; DP-Adam divides by the gradient's size, and so moves by up to its rate.
func TestTenStepsOfTheModels(t *testing.T) {
	samples, steps := 14, 3
	if long.Tests() {
		samples, steps = 40, 10
	}
	tenSteps(t, emulated(t, kernelsOrSkip(t), 1), samples, steps)
}

func tenSteps(t *testing.T, e func() engine.Engine, samples, n int) {
	for _, name := range []string{"cnn", "mlp", texts} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, initial := network(t, name)
			data := dataOf(name)(p, samples, 2)
			base := jobOf(p, initial, samples)
			adam := base
			adam.Trial = 1
			adam.Optimizer = engine.Optimizer{Method: engine.Adam, LearningRate: 0.01, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8}
			jobs, steps := []engine.Job{base, adam}, []int{n, n}
			want, wantOut := finish(t, cpu.New(cpu.Options{}), p, data, jobs, steps)
			got, gotOut := finish(t, e(), p, data, jobs, steps)
			for i, j := range jobs {
				mean := j.Mechanism.Grid(samples).Coarse / j.Mechanism.ExpectedBatchSize
				limit := float64(n) * (mean + 1e-5)
				if j.Optimizer.Method == engine.Adam {
					limit = float64(n) * j.Optimizer.LearningRate
				}
				far := 0.0
				for k, v := range got[i].Params {
					far = math.Max(far, math.Abs(float64(v)-float64(want[i].Params[k])))
				}
				if !(far <= limit) || got[i].Step != n {
					t.Errorf("%s: after %d steps parameters are up to %v from the CPU's, %v would do", j.Optimizer.Method, got[i].Step, far, limit)
				}
				for k, v := range gotOut[i] {
					if d := math.Abs(float64(v) - float64(wantOut[i][k])); !(d <= 2e-2) {
						t.Fatalf("%s: output %d is %v, the CPU's %v", j.Optimizer.Method, k, v, wantOut[i][k])
					}
				}
			}
		})
	}
}

// Neither the threads of a block nor the number of blocks or of devices changes a bit.
func TestNothingDependsOnTheMachine(t *testing.T) {
	l := kernelsOrSkip(t)
	for _, name := range []string{"convolutions with stride, padding and dilation", "two tables by one input", "a table looked up twice"} {
		t.Run(name, func(t *testing.T) { onAnyMachine(t, l, enginetest.Zoo()[name].Program(t, 2)) })
	}
}

func onAnyMachine(t *testing.T, l *emulator.Library, p *compile.Program) {
	const samples = 60
	data := enginetest.RandomData(p, samples, 2)
	var jobs []engine.Job
	for i := range 5 {
		j := jobOf(p, engine.LayoutOf(p).Join(p.Initial()), samples)
		j.Trial = uint32(i)
		jobs = append(jobs, j)
	}
	steps := []int{3, 1, 4, 0, 2}
	var want []engine.State
	var wantOut [][]float32
	for _, c := range []struct{ devices, threads, multiprocessors int }{{1, 64, 2}, {1, 32, 1}, {1, 96, 3}, {1, 256, 40}, {2, 64, 2}, {3, 64, 2}, {7, 32, 1}} {
		var devices []driver.Device
		for range c.devices {
			d, err := l.Device(seeds.Add(1))
			if err != nil {
				t.Fatal(err)
			}
			devices = append(devices, sized{Device: d, multiprocessors: c.multiprocessors, free: new(int)})
		}
		e := newEngine(devices, "cuda, emulated", c.threads, nil)
		got, out := finish(t, e, p, data, jobs, steps)
		if want == nil {
			want, wantOut = got, out
		} else if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(out, wantOut) {
			t.Errorf("%+v: runs end elsewhere", c)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

// sized is a device with its own number of multiprocessors and, unless limit is 0, less memory. free counts allocated
// bytes.
type sized struct {
	driver.Device
	multiprocessors int
	limit           int
	free            *int
	held            map[driver.Pointer]int
}

func (d sized) Info() driver.Info {
	i := d.Device.Info()
	i.Multiprocessors = d.multiprocessors
	return i
}

func (d sized) Alloc(bytes int) (driver.Pointer, error) {
	if d.limit > 0 && *d.free+bytes > d.limit {
		return 0, fmt.Errorf("allocate %d bytes: %w", bytes, driver.ErrOutOfMemory)
	}
	p, err := d.Device.Alloc(bytes)
	if err == nil && d.held != nil {
		*d.free += bytes
		d.held[p] = bytes
	}
	return p, err
}

func (d sized) Free(p driver.Pointer) error {
	if d.held != nil {
		*d.free -= d.held[p]
		delete(d.held, p)
	}
	return d.Device.Free(p)
}

// Where memory is short fewer blocks work and fewer runs advance at a time; that is said, and changes no result. Where
// nothing helps there is an error that names the device, and everything is given back.
func TestShortOfMemory(t *testing.T) {
	l := kernelsOrSkip(t)
	p := enginetest.MLP(t, 6, 5, 3)
	const samples = 300
	data := enginetest.RandomData(p, samples, 2)
	var jobs []engine.Job
	steps := []int{2, 3, 1, 2, 0, 1, 2} // neither half of them nor a quarter leaves no rest
	for i := range steps {
		j := jobOf(p, engine.LayoutOf(p).Join(p.Initial()), samples)
		j.Trial = uint32(i)
		j.Members = allOf(samples)[10*i:]
		j.Mechanism.ClippingNorm = 1 / float64(1+i)
		if i%3 > 0 {
			j.Optimizer = engine.Optimizer{Method: engine.Adam, LearningRate: 0.01 * float64(i), Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8}
		}
		jobs = append(jobs, j)
	}
	want, wantOut := finish(t, emulated(t, l, 1)(), p, data, jobs, steps)
	failures, shrunk := 0, map[string]bool{}
	for limit := 1 << 10; limit < 1<<21; limit += limit / (3 + long.Times()/2) {
		d, err := l.Device(seeds.Add(1))
		if err != nil {
			t.Fatal(err)
		}
		s := sized{Device: d, multiprocessors: 64, limit: limit, free: new(int), held: map[driver.Pointer]int{}}
		var said []string
		e := newEngine([]driver.Device{s}, "cuda, emulated", emulatedThreads, func(text string) { said = append(said, text) })
		if err := shortOfMemory(t, e, p, data, jobs, steps, want, wantOut); err != nil {
			failures++
			var broken *DeviceError
			if !errors.Is(err, driver.ErrOutOfMemory) || errors.As(err, &broken) || !strings.Contains(err.Error(), "bytes") {
				t.Errorf("%d bytes: %v", limit, err)
			}
		}
		for _, text := range said {
			for _, what := range []string{"multiprocessors work", "runs advance at a time"} {
				if strings.Contains(text, what) {
					shrunk[what] = true
				}
			}
		}
		if *s.free != 0 {
			t.Errorf("%d bytes: %d are never given back", limit, *s.free)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
	if failures == 0 || len(shrunk) != 2 {
		t.Errorf("%d failures; said was %v: the limits test nothing", failures, shrunk)
	}
}

// whileRunning loads and starts jobs, hands the runs over, and closes everything.
func whileRunning(e engine.Engine, p *compile.Program, data *engine.Data, jobs []engine.Job, do func(engine.Runs) error) (err error) {
	loaded, err := e.Load(p, data)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, loaded.Close()) }()
	runs, err := loaded.Start(jobs...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, runs.Close()) }()
	return do(runs)
}

// shortOfMemory checks the states and predictions of runs that memory suffices for.
func shortOfMemory(t *testing.T, e engine.Engine, p *compile.Program, data *engine.Data, jobs []engine.Job, steps []int, want []engine.State, wantOut [][]float32) error {
	return whileRunning(e, p, data, jobs, func(runs engine.Runs) error {
		if err := runs.Steps(context.Background(), steps...); err != nil {
			return err
		}
		for i := range jobs {
			if !reflect.DeepEqual(runs.State(i), want[i]) {
				t.Errorf("run %d ends elsewhere", i)
			}
		}
		out, err := runs.Predict(context.Background(), data, 0, 1, 2, 3, 4, 5, 6)
		if err == nil && !reflect.DeepEqual(out, wantOut) {
			t.Error("runs predict something else")
		}
		return err
	})
}

// failing is a device that is lost after some launches.
type failing struct {
	driver.Device
	left *int
}

var errLost = errors.New("the device is lost")

func (d failing) Launch(kernel string, blocks, threads int, arguments ...any) error {
	if *d.left--; *d.left < 0 {
		return errLost
	}
	return d.Device.Launch(kernel, blocks, threads, arguments...)
}

func (d failing) Download(to []byte, from driver.Pointer, offset int) error {
	if *d.left < 0 {
		return errLost
	}
	return d.Device.Download(to, from, offset)
}

// A device that fails ends its own runs, in their last known states, and no others.
func TestLostDevice(t *testing.T) {
	l := kernelsOrSkip(t)
	p := enginetest.MLP(t, 6, 5, 3)
	const samples = 50
	data := enginetest.RandomData(p, samples, 2)
	good, err := l.Device(seeds.Add(1))
	if err != nil {
		t.Fatal(err)
	}
	bad, err := l.Device(seeds.Add(1))
	if err != nil {
		t.Fatal(err)
	}
	left := 4*3 + 3 // the first four steps, and a part of the next ones
	e := newEngine([]driver.Device{failing{bad, &left}, good}, "cuda, emulated", emulatedThreads, nil)
	defer e.Close()
	loaded, err := e.Load(p, data)
	if err != nil {
		t.Fatal(err)
	}
	j := jobOf(p, engine.LayoutOf(p).Join(p.Initial()), samples)
	runs, err := loaded.Start(j, j, j, j)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	if err := runs.Steps(ctx, 4, 2, 4, 2); err != nil {
		t.Fatal(err)
	}
	var before []engine.State
	for i := range 4 {
		before = append(before, runs.State(i))
	}
	for range 2 {
		err = runs.Steps(ctx, 5, 5, 0, 0)
		var failed engine.RunErrors
		var device *DeviceError
		if !errors.As(err, &failed) || !errors.As(err, &device) || !errors.Is(err, errLost) {
			t.Fatalf("steps on a lost device: %v", err)
		}
		if failed[0] == nil || failed[1] == nil || failed[2] != nil || failed[3] != nil {
			t.Errorf("which runs failed: %v", []error(failed))
		}
		if got := runs.Done(); !slices.Equal(got, []int{4, 2, 4, 2}) {
			t.Errorf("done are %v", got)
		}
		for i := range 4 {
			if !reflect.DeepEqual(runs.State(i), before[i]) {
				t.Errorf("run %d isn't where it was before its device was lost", i)
			}
		}
	}
	if err := runs.Steps(ctx, 0, 0, 0, 1); err == nil {
		t.Error("runs of a lost device aren't said to be")
	}
	if got := runs.Done(); !slices.Equal(got, []int{4, 2, 4, 3}) {
		t.Errorf("done are %v: a lost device kept another's run from its step", got)
	}
	if err := runs.Restore(0, before[1]); !errors.Is(err, errLost) {
		t.Errorf("restore on a lost device: %v", err)
	}
	if _, err := runs.Predict(ctx, data, 1); !errors.Is(err, errLost) {
		t.Errorf("predict on a lost device: %v", err)
	}
	if out, err := runs.Predict(ctx, data, 3); err != nil || len(out[0]) != samples*3 {
		t.Errorf("predict on a device that is well: %v", err)
	}
	// It may seem well again, but its memory is unknown.
	left = 1000
	if err := runs.Steps(ctx, 1, 1, 0, 0); !errors.Is(err, errLost) {
		t.Errorf("steps on a device that was lost: %v", err)
	}
	if _, err := runs.Predict(ctx, data, 1); !errors.Is(err, errLost) {
		t.Errorf("predict on a device that was lost: %v", err)
	}
	for i := range 2 {
		if !reflect.DeepEqual(runs.State(i), before[i]) {
			t.Errorf("run %d isn't where it was before its device was lost and found", i)
		}
	}
}

func TestChoiceOfDevices(t *testing.T) {
	all := []Info{{Name: "old", Major: 6, Minor: 1}, {Name: "a", Major: 9}, {Name: "b", Major: 8}, {Name: "c", Major: 9}}
	for _, c := range []struct {
		all   []Info
		asked []int
		want  []int
		err   string
	}{
		{all, nil, []int{1, 3}, ""},
		{all, []int{3, 1}, []int{3, 1}, ""},
		{all, []int{2}, []int{2}, ""},
		{all, []int{1, 2}, nil, "GPUs 1 and 2 are of different compute capabilities"},
		{all, []int{0}, nil, "old has compute capability 6.1"},
		{all, []int{4}, nil, "there is no GPU 4; there are 0 to 3"},
		{all, []int{-1}, nil, "there is no GPU -1"},
		{all, []int{1, 1}, nil, "GPU 1 is named twice"},
		{all, []int{}, nil, "no GPU is named"},
		{all[:1], nil, nil, "needs 7.0 or newer"},
	} {
		got, err := choose(c.all, c.asked)
		if c.err == "" && (err != nil || !slices.Equal(got, c.want)) {
			t.Errorf("%v: %v, %v, want %v", c.asked, got, err, c.want)
		}
		if c.err != "" && (err == nil || errors.Is(err, ErrNoDevice) != (c.asked == nil) || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%v: %v, want %s", c.asked, err, c.err)
		}
	}
}

// idle is a device that says yes to launches and does nothing.
type idle struct{ driver.Device }

func (idle) Launch(string, int, int, ...any) error { return nil }

// A device that only claims to compute is found out, so that its parameters are never taken for a trained model.
func TestIdleDevice(t *testing.T) {
	d, err := kernelsOrSkip(t).Device(seeds.Add(1))
	if err != nil {
		t.Fatal(err)
	}
	e := newEngine([]driver.Device{idle{d}}, "cuda, emulated", emulatedThreads, nil)
	defer e.Close()
	p := enginetest.MLP(t, 6, 5, 3)
	loaded, err := e.Load(p, enginetest.RandomData(p, 50, 2))
	if err != nil {
		t.Fatal(err)
	}
	runs, err := loaded.Start(jobOf(p, engine.LayoutOf(p).Join(p.Initial()), 50))
	if err != nil {
		t.Fatal(err)
	}
	var device *DeviceError
	if err := runs.Steps(context.Background(), 2); !errors.As(err, &device) || !strings.Contains(err.Error(), "its count of steps is 0 where 1 were launched") {
		t.Errorf("steps that weren't taken: %v", err)
	}
	if got := runs.Done(); !slices.Equal(got, []int{0}) {
		t.Errorf("done are %v", got)
	}
}
