package cuda

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/dptrain/dptrain/cuda/internal/driver"
	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
)

// Options change how fast an engine runs, never what it computes. [New] copies Devices.
type Options struct {
	Devices []int        // the GPUs to use, by their numbers; nil means all that are usable and like the first of them
	Warn    func(string) // is told, from any goroutine, when memory is short and the engine takes less at a time; may be nil
}

// Engine runs programs on GPUs. It implements [engine.Engine].
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

// New opens GPUs. If there is none that can be used the error is an [ErrNoDevice]; if one that [Options].Devices names can't,
// it is another. Of all GPUs one that can't be opened is left out. Runs of a group are spread over all
// GPUs, which must be of one compute capability, so that it doesn't matter to a run which of them it gets.
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
		d, err := s.Open(i, ptx...)
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

// gpuThreads is the number of threads that a block has on a GPU: a multiprocessor has registers for one such block of the
// kernels that walk a program.
const gpuThreads = 256

func newEngine(d []driver.Device, arithmetic string, threads int, warn func(string)) *Engine {
	if warn == nil {
		warn = func(string) {}
	}
	return &Engine{devices: d, arithmetic: arithmetic, threads: threads, warn: warn}
}

// Name names the GPUs.
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

// enter counts a load that must be closed before the GPUs are given back.
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

// Load uploads the program and its data to every GPU. After Close the error wraps [engine.ErrClosed].
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
	if err := p.Check(); err != nil {
		return nil, fmt.Errorf("load on %s: %w", e.Name(), err)
	}
	code, err := lower(p)
	if err != nil {
		return nil, err
	}
	l := &loaded{engine: e, code: code, data: data}
	for _, d := range e.devices {
		r, err := e.upload(d, code, data)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("load on %s: %w", d.Info().Name, lost(d, err)), l.free())
		}
		l.residents = append(l.residents, r)
	}
	return l, nil
}

// Close gives the GPUs back. What was loaded on them is closed before: else the error wraps [engine.ErrInUse], and
// nothing is closed. A second Close does nothing.
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
	engine    *Engine
	code      *lowered
	data      *engine.Data
	residents []*resident
	closed    bool
}

// Arithmetic names the kernels and the words that they are handed, which together fix the order of sums, and what the driver
// compiles them for.
func (l *loaded) Arithmetic() string {
	return fmt.Sprintf("%s, program %x, chunks of %d", l.engine.arithmetic, l.code.digest[:8], l.code.chunk)
}

// Start spreads the jobs over the GPUs, as evenly as may be.
func (l *loaded) Start(jobs ...engine.Job) (engine.Runs, error) {
	for i, job := range jobs {
		if err := job.Check(l.code.Program, l.data); err != nil {
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

// Close frees what the program and its data take on the GPUs.
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
