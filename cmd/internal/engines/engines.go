package engines

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/cmd/internal/term"
	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/cuda"
	"github.com/dptrain/dptrain/train"
)

// New returns the first of all engines that can run a model. It alone names engines. gpu is nil for the CPU's.
func New(p settings.Performance, gpu train.Engine) train.Engine {
	o := cpu.Options{Workers: p.Workers}
	engines := []train.Engine{cpu.New(o)}
	if gpu != nil {
		engines = append([]train.Engine{gpu}, engines...)
	}
	return train.FirstOf(engines...)
}

// CPU returns the engine for predictions and features, which run on the CPU.
func CPU() train.Engine { return New(settings.Performance{}, nil) }

// GPUs finds a machine's GPUs and opens them.
type GPUs struct {
	List func() ([]cuda.Info, error)
	Open func(cuda.Options) (GPU, error)
}

// GPU is an engine that holds GPUs until it is closed, as [cuda.Engine] does.
type GPU interface {
	train.Engine
	Close() error
}

// NVIDIA finds the GPUs of this machine. Tests have others.
var NVIDIA = GPUs{
	List: cuda.Devices,
	Open: func(o cuda.Options) (GPU, error) { return cuda.New(o) },
}

// wanted reports whether settings insist on GPUs.
func wanted(p settings.Performance) bool {
	return p.Engine == settings.EngineCUDA || len(p.Devices) > 0
}

// Choice is the device that a run is trained on.
type Choice struct {
	gpus   *GPUs             // nil for the CPU
	why    error             // why no GPU is used, if settings allow one
	opened <-chan openedGPUs // has the GPUs once they are open
}

type openedGPUs struct {
	engine GPU
	err    error
}

// Choose checks GPUs without opening them, so that settings that can't be met are an error before all that takes time.
func (g GPUs) Choose(p settings.Performance) (Choice, error) {
	if p.Engine == settings.EngineCPU {
		return Choice{}, nil
	}
	err := g.check(p.Devices)
	switch {
	case err == nil:
		return Choice{gpus: &g}, nil
	case wanted(p):
		return Choice{}, hintAtCPU(p, err)
	}
	return Choice{why: err}, nil
}

// Opening returns c with its GPUs being opened beside other work. [Choice.Open] takes them over. If it doesn't, they
// are closed when ctx is done.
func (c Choice) Opening(ctx context.Context, running *sync.WaitGroup, p settings.Performance, warn func(string)) Choice {
	if c.gpus == nil {
		return c
	}
	opened := make(chan openedGPUs)
	c.opened = opened
	running.Go(func() {
		engine, err := c.gpus.Open(cuda.Options{
			Devices: append([]int(nil), p.Devices...), // nil means all
			Warn:    warn,
		})
		select {
		case opened <- openedGPUs{engine, err}:
		case <-ctx.Done():
			if err == nil {
				_ = engine.Close() // there is another error, which is reported
			}
		}
	})
	return c
}

// check returns an error if one of the numbered GPUs can't be used. Without numbers, one usable GPU is enough.
func (g GPUs) check(numbers []int) error {
	all, err := g.List()
	if err != nil {
		return err
	}
	for _, n := range numbers {
		if n >= len(all) {
			return term.Usagef("--devices: there is no GPU %d; there are %s", n, strings.Join(namesOf(all), ", "))
		}
		if err := cuda.Usable(all[n]); err != nil {
			return fmt.Errorf("%w: number %d: %w", cuda.ErrNoDevice, n, err)
		}
	}
	if len(numbers) > 0 {
		return nil
	}
	var why []string
	for _, info := range all {
		err := cuda.Usable(info)
		if err == nil {
			return nil
		}
		why = append(why, err.Error())
	}
	return fmt.Errorf("%w: %s", cuda.ErrNoDevice, strings.Join(why, "; "))
}

func namesOf(all []cuda.Info) []string {
	var names []string
	for n, info := range all {
		names = append(names, fmt.Sprintf("%d (%s)", n, info.Name))
	}
	return names
}

// hintAtCPU adds a remedy to the error of GPUs that settings insist on.
func hintAtCPU(p settings.Performance, err error) error {
	if code, coded := term.CodeOf(err); coded && code == term.CodeUsage {
		return err
	}
	hint := "--engine cpu trains without"
	if len(p.Devices) > 0 {
		hint = "--engine cpu instead of --devices trains without"
	}
	return term.Coded(term.CodeDevice, fmt.Errorf("%w; %s", err, hint))
}

// Open returns the chosen GPUs once they are open; the caller closes them. It returns nil for the CPU, and reports why
// unless the CPU was asked for.
func (c Choice) Open(ctx context.Context, p settings.Performance, f *term.Follower) (GPU, error) {
	if c.why != nil {
		f.Note(`training on the CPU: no usable GPU, see "dptrain devices"`)
		f.Log(logrus.DebugLevel, c.why)
	}
	if c.gpus == nil {
		return nil, nil
	}
	slow := time.AfterFunc(2*time.Second, func() {
		f.Note("the GPU's driver compiles the kernels, which takes some seconds the first time")
	})
	defer slow.Stop()
	var gpus openedGPUs
	select {
	case gpus = <-c.opened:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	switch {
	case gpus.err == nil:
		f.Note("training on " + gpus.engine.Name())
		return gpus.engine, nil
	case wanted(p):
		return nil, hintAtCPU(p, fmt.Errorf("open the GPUs: %w", gpus.err))
	}
	f.Warn(fmt.Sprintf("training on the CPU: the GPUs can't be opened: %v", gpus.err))
	return nil, nil
}

// Using opens the chosen GPUs, if there are any, and closes them after work, which gets nil for the CPU.
func (c Choice) Using(ctx context.Context, p settings.Performance, f *term.Follower, work func(gpu train.Engine) error) (err error) {
	gpu, err := c.Open(ctx, p, f)
	switch {
	case err != nil:
		return err
	case gpu == nil:
		return work(nil)
	}
	defer func() { err = errors.Join(err, gpu.Close()) }()
	return work(gpu)
}

// OnGPUs reports whether GPUs are chosen.
func (c Choice) OnGPUs() bool { return c.gpus != nil }

// Blame adds a remedy to the error of a GPU that failed, or ran out of memory: with another engine the run
// couldn't go on. It keeps one of the errors of all runs and calls that failed with the GPU.
func Blame(err error) error {
	var failed *cuda.DeviceError
	switch {
	case errors.Is(err, term.ErrInterrupted):
		return err
	case errors.As(err, &failed):
		return term.Coded(term.CodeDevice, fmt.Errorf("%w; a new process may find it well", failed))
	case errors.Is(err, cuda.ErrOutOfMemory):
		return term.Coded(term.CodeDevice, fmt.Errorf("%w; end what else uses the GPU", err))
	}
	return err
}
