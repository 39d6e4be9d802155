package cuda

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/dptrain/dptrain/cuda/internal/driver"
	"github.com/dptrain/dptrain/cuda/internal/emulator"
	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/enginetest"
	"github.com/dptrain/dptrain/internal/long"
)

var seeds, engines atomic.Uint64

// emulatedThreads is the number of threads of a block on the emulated device: few, because it takes them one after
// another. Nothing that is computed depends on it.
const emulatedThreads = 64

// emulated makes engines on emulated devices, each with a seed of its own. One in four has a GPU's threads.
func emulated(t *testing.T, l *emulator.Library, devices int) func() engine.Engine {
	return func() engine.Engine {
		var all []driver.Device
		threads := emulatedThreads
		if engines.Add(1)%4 == 0 {
			threads = gpuThreads
		}
		for range devices {
			d, err := l.Device(seeds.Add(1))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, d)
		}
		return lent{newEngine(all, "cuda, emulated", threads, func(s string) { t.Log(s) })}
	}
}

// lent is an engine that is closed with the first program that was loaded on it: the suite makes one for each.
type lent struct{ *Engine }

func (e lent) Load(p *compile.Program, d *engine.Data) (engine.Loaded, error) {
	l, err := e.Engine.Load(p, d)
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return returned{l, e}, nil
}

type returned struct {
	engine.Loaded
	engine lent
}

func (r returned) Close() error { return errors.Join(r.Loaded.Close(), r.engine.Close()) }

func suite(t *testing.T) enginetest.Suite {
	return enginetest.Suite{Engine: emulated(t, kernelsOrSkip(t), 1), Inspect: inspect, Tolerance: 2e-4, Short: !long.Tests()}
}

// The engine keeps the contract, on the emulated device.
func TestSuite(t *testing.T) { suite(t).Run(t) }
