package cpu

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/dptrain/dptrain/cpu/internal/kernel"
	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
)

// Options configure an engine's speed; they don't change what it computes.
type Options struct {
	Workers int // number of cores that all runs together use; 0 means all; more than the machine has only cost memory
}

// New returns the CPU engine. It runs every program that package compile makes.
func New(o Options) engine.Engine {
	return &cpuEngine{
		name:       "cpu (" + kernel.Implementation() + ")",
		arithmetic: "cpu 2, " + kernel.Arithmetic() + ", " + runtime.GOARCH, // 2: of coins, draws and release
		workers:    o.workers(),
		workspace:  (*lowered).workspace,
	}
}

func (o Options) workers() int {
	if o.Workers > 0 {
		return o.Workers
	}
	return runtime.GOMAXPROCS(0)
}

type cpuEngine struct {
	name       string
	arithmetic string
	workers    int
	workspace  func(*lowered) workspace
}

// Name names the engine and its matrix product, on which its speed depends.
func (e *cpuEngine) Name() string { return e.name }

// Load lowers the program and lays out its memory.
func (e *cpuEngine) Load(p *compile.Program, d *engine.Data) (_ engine.Loaded, err error) {
	defer guard(&err)
	if err := d.Check(p); err != nil {
		return nil, fmt.Errorf("load on %s: %w", e.name, err)
	}
	code, err := lower(p)
	if unsupported, ok := errors.AsType[*engine.UnsupportedError](err); ok {
		unsupported.Engine = e.name
	}
	if err != nil {
		return nil, err
	}
	l := &loaded{arithmetic: e.arithmetic, code: code, program: p, data: d, layout: engine.LayoutOf(p)}
	if l.coins, err = coinsOf(p, d, e.workers); err != nil {
		return nil, err
	}
	l.updates = l.spans()
	l.team = newTeam(e.workers, func() *worker {
		return &worker{space: e.workspace(code), sum: newSum(l.layout, code.widths())}
	})
	return l, nil
}

// loaded is a program and its data, with the workers that all runs share.
type loaded struct {
	arithmetic string
	code       *lowered
	program    *compile.Program
	data       *engine.Data
	layout     engine.Layout
	coins      []uint32
	updates    []span
	team       *team
}

// Arithmetic names the matrix product, whose rounding differs between machines, and all that the standard library's
// functions depend on.
func (l *loaded) Arithmetic() string { return l.arithmetic }

// Start allocates each job's state.
func (l *loaded) Start(jobs ...engine.Job) (_ engine.Runs, err error) {
	defer guard(&err)
	g := &group{loaded: l}
	for i, job := range jobs {
		if err := job.Check(l.program, l.data); err != nil {
			return nil, fmt.Errorf("start run %d: %w", i, err)
		}
		g.runs = append(g.runs, newRun(l, job))
	}
	return g, nil
}

// Close frees the workers' memory.
func (l *loaded) Close() error {
	l.team.dismiss()
	return nil
}
