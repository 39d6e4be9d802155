package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/cuda"
	"github.com/dptrain/dptrain/train"
)

// newEngine returns the first of all engines that can run a model. It alone names engines. gpu is nil for the CPU's.
func newEngine(p settings.Performance, gpu train.Engine) train.Engine {
	o := cpu.Options{Workers: p.Workers}
	engines := []train.Engine{cpu.New(o)}
	if gpu != nil {
		engines = append([]train.Engine{gpu}, engines...)
	}
	return train.FirstOf(engines...)
}

// onCPU returns the engine for predictions and features, which run on the CPU.
func onCPU() train.Engine { return newEngine(settings.Performance{}, nil) }

// gpus finds a machine's GPUs and opens them.
type gpus struct {
	list func() ([]cuda.Info, error)
	open func(cuda.Options) (gpuEngine, error)
}

// gpuEngine is an engine that holds GPUs until it is closed, as [cuda.Engine] does.
type gpuEngine interface {
	train.Engine
	Close() error
}

// nvidia finds the GPUs of this machine. Tests have others.
var nvidia = gpus{
	list: cuda.Devices,
	open: func(o cuda.Options) (gpuEngine, error) { return cuda.New(o) },
}

// wanted reports whether settings insist on GPUs.
func wanted(p settings.Performance) bool {
	return p.Engine == settings.EngineCUDA || len(p.Devices) > 0
}

// choice is the device that a run is trained on.
type choice struct {
	gpus   *gpus             // nil for the CPU
	why    error             // why no GPU is used, if settings allow one
	opened <-chan openedGPUs // has the GPUs once they are open
}

type openedGPUs struct {
	engine gpuEngine
	err    error
}

// choose checks GPUs without opening them, so that settings that can't be met are an error before all that takes time.
func (g gpus) choose(p settings.Performance) (choice, error) {
	if p.Engine == settings.EngineCPU {
		return choice{}, nil
	}
	err := g.check(p.Devices)
	switch {
	case err == nil:
		return choice{gpus: &g}, nil
	case wanted(p):
		return choice{}, hintAtCPU(p, err)
	}
	return choice{why: err}, nil
}

// opening returns c with its GPUs being opened beside other work. [choice.open] takes them over. If it doesn't, they
// are closed when ctx is done.
func (c choice) opening(ctx context.Context, running *sync.WaitGroup, p settings.Performance, warn func(string)) choice {
	if c.gpus == nil {
		return c
	}
	opened := make(chan openedGPUs)
	c.opened = opened
	running.Go(func() {
		engine, err := c.gpus.open(cuda.Options{
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
func (g gpus) check(numbers []int) error {
	all, err := g.list()
	if err != nil {
		return err
	}
	for _, n := range numbers {
		if n >= len(all) {
			return usagef("--devices: there is no GPU %d; there are %s", n, strings.Join(namesOf(all), ", "))
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
	if exitCode(err) == codeUsage {
		return err
	}
	hint := "--engine cpu trains without"
	if len(p.Devices) > 0 {
		hint = "--engine cpu instead of --devices trains without"
	}
	return coded(codeDevice, fmt.Errorf("%w; %s", err, hint))
}

// open returns the chosen GPUs once they are open; the caller closes them. It returns nil for the CPU, and reports why
// unless the CPU was asked for.
func (c choice) open(ctx context.Context, p settings.Performance, f *follower) (gpuEngine, error) {
	if c.why != nil {
		f.Note(`training on the CPU: no usable GPU, see "dptrain devices"`)
		f.log(logrus.DebugLevel, c.why)
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

// blameDevice adds a remedy to the error of a GPU that failed, or ran out of memory: with another engine the run
// couldn't go on. It keeps one of the errors of all runs and calls that failed with the GPU.
func blameDevice(err error) error {
	var failed *cuda.DeviceError
	switch {
	case errors.Is(err, errInterrupted):
		return err
	case errors.As(err, &failed):
		return coded(codeDevice, fmt.Errorf("%w; a new process may find it well", failed))
	case errors.Is(err, cuda.ErrOutOfMemory):
		return coded(codeDevice, fmt.Errorf("%w; end what else uses the GPU", err))
	}
	return err
}
