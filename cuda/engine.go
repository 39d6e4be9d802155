package cuda

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/dptrain/dptrain/cuda/internal/driver"
	"github.com/dptrain/dptrain/cuda/internal/walk"
	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
)

// Options change how fast an engine runs, never what it computes. [New] copies Devices.
type Options struct {
	// Devices are the numbers of the GPUs to use. Nil means all usable GPUs with the compute capability of the first
	// usable one.
	Devices []int
	// Warn is called, from any goroutine, when memory is short and the engine uses fewer blocks or advances fewer runs
	// at a time. It may be nil.
	Warn func(string)
}

// Engine runs programs on GPUs. It is a train.Engine.
type Engine struct {
	devices    []driver.Device
	arithmetic string
	threads    int // of a block
	warn       func(string)

	mu     sync.Mutex
	loads  int // not closed yet
	closed bool
}

var _ engine.Engine = (*Engine)(nil)

// New opens GPUs. If no GPU is usable, the error wraps [ErrNoDevice]. If Options.Devices names a GPU that can't be
// used, the error reports that GPU; if it is nil, New leaves out GPUs that can't be opened. Runs of a group are spread
// over the GPUs. All GPUs must have the same compute capability, so that a run gives the same result on each.
func New(o Options) (*Engine, error) {
	s, err := system()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoDevice, err)
	}
	return openAll(s, o)
}

// openAll opens the GPUs of a driver.
func openAll(s driver.System, o Options) (*Engine, error) {
	all, err := devices(s)
	if err != nil {
		return nil, err
	}
	chosen, err := choose(all, o.Devices)
	if err != nil {
		return nil, err
	}
	ptx, err := images()
	if err != nil {
		return nil, err
	}
	var opened []driver.Device
	var faults []error
	for _, i := range chosen {
		d, err := load(s, i, all[i], ptx)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		opened = append(opened, d)
	}
	switch {
	case len(faults) > 0 && o.Devices != nil:
		return nil, errors.Join(append(faults, closeAll(opened))...)
	case len(opened) == 0:
		return nil, fmt.Errorf("%w: %w", ErrNoDevice, errors.Join(faults...))
	case o.Warn != nil:
		for _, err := range faults {
			o.Warn(fmt.Sprintf("a GPU is left out: %v", err))
		}
	}
	first := all[chosen[0]]
	hash := sha256.Sum256(slices.Concat(ptx...))
	arithmetic := fmt.Sprintf("cuda, compute capability %d.%d, kernels %x", first.Major, first.Minor, hash[:8])
	return newEngine(opened, arithmetic, gpuThreads, o.Warn), nil
}

// gpuThreads is the number of threads in a block on a GPU: a multiprocessor has registers for one such block of
// clipped_sums or predict.
const gpuThreads = 256

func newEngine(d []driver.Device, arithmetic string, threads int, warn func(string)) *Engine {
	if warn == nil {
		warn = func(string) {}
	}
	return &Engine{devices: d, arithmetic: arithmetic, threads: threads, warn: warn}
}

// Name returns "cuda" and the names of the GPUs.
func (e *Engine) Name() string {
	if e == nil {
		return "cuda ()"
	}
	var names []string
	for _, d := range e.devices {
		names = append(names, d.Info().Name)
	}
	return "cuda (" + strings.Join(names, ", ") + ")"
}

// enter counts a load, which must be closed before the engine.
func (e *Engine) enter() error {
	if e == nil || len(e.devices) == 0 {
		return errors.New("this engine has no GPUs; make one by cuda.New")
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return fmt.Errorf("the engine is %w; make another one", engine.ErrClosed)
	}
	e.loads++
	return nil
}

func (e *Engine) leave() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.loads--
}

// Load uploads the program and its data to every GPU. After Close the error wraps train.ErrClosed.
func (e *Engine) Load(p *compile.Program, data *engine.Data) (engine.Loaded, error) {
	if err := e.enter(); err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	l, err := e.load(p, data)
	if err != nil {
		e.leave()
		return nil, err
	}
	return l, nil
}

func (e *Engine) load(p *compile.Program, data *engine.Data) (*loaded, error) {
	if err := data.Check(p); err != nil {
		return nil, fmt.Errorf("load on %s: %w", e.Name(), err)
	}
	code, err := walk.Lower(p)
	if err != nil {
		return nil, err
	}
	return e.upload(code, data)
}

// upload loads a program and its data on every GPU.
func (e *Engine) upload(code *walk.Program, data *engine.Data) (*loaded, error) {
	l := &loaded{engine: e, program: code.Program, data: data}
	for _, d := range e.devices {
		g, err := code.Load(d, data, e.threads, e.warn)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("load on %s: %w", d.Info().Name, lost(d, err)), l.free())
		}
		l.arithmetic = e.arithmetic + ", " + g.Arithmetic()
		l.residents = append(l.residents, &resident{engine: e, device: d, layout: engine.LayoutOf(code.Program), gradients: g})
	}
	return l, nil
}

// Close releases the GPUs. Close everything that was loaded on them first; otherwise Close does nothing and its error
// wraps train.ErrInUse. A second Close does nothing.
func (e *Engine) Close() error {
	if e == nil {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.loads > 0 {
		return fmt.Errorf("close: the engine is %w by %d loaded models: close them first", engine.ErrInUse, e.loads)
	}
	if e.closed {
		return nil
	}
	e.closed = true
	return closeAll(e.devices)
}

func closeAll(devices []driver.Device) error {
	var errs []error
	for _, d := range devices {
		errs = append(errs, d.Close())
	}
	return errors.Join(errs...)
}

// loaded is a program and its data on all GPUs of an engine.
type loaded struct {
	engine     *Engine
	program    *compile.Program
	data       *engine.Data
	arithmetic string
	residents  []*resident
	closed     bool
}

// resident is a program and its data on one GPU.
type resident struct {
	engine    *Engine
	device    driver.Device
	layout    engine.Layout // of the parameters
	gradients *walk.Gradients
	freed     bool
}

func (r *resident) free() error {
	r.freed = true
	return lost(r.device, r.gradients.Free())
}

// Arithmetic names the kernels, the compute capability that the driver compiles them for, and the program's bytecode.
// Together they fix the order of sums.
func (l *loaded) Arithmetic() string { return l.arithmetic }

// Start spreads the jobs over the GPUs evenly.
func (l *loaded) Start(jobs ...engine.Job) (engine.Runs, error) {
	for i, job := range jobs {
		if err := job.Check(l.program, l.data); err != nil {
			return nil, fmt.Errorf("start run %d: %w", i, err)
		}
	}
	if l.closed {
		return nil, fmt.Errorf("start: what was loaded is %w", engine.ErrClosed)
	}
	g := &group{loaded: l}
	for k, r := range l.residents {
		from, to := k*len(jobs)/len(l.residents), (k+1)*len(jobs)/len(l.residents)
		if from == to {
			continue
		}
		p, err := r.start(jobs[from:to], l.data.Samples)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("start %d runs on %s: %w", to-from, r.device.Info().Name, lost(r.device, err)), g.Close())
		}
		p.first = from
		g.parts = append(g.parts, p)
	}
	return g, nil
}

// Close frees the GPUs' memory of the program and its data.
func (l *loaded) Close() error {
	if l.closed {
		return nil
	}
	l.closed = true
	defer l.engine.leave()
	return l.free()
}

func (l *loaded) free() error {
	var errs []error
	for _, r := range l.residents {
		errs = append(errs, r.free())
	}
	l.residents = nil
	return errors.Join(errs...)
}
