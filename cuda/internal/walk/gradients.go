package walk

import (
	"errors"
	"fmt"

	"github.com/dptrain/dptrain/cuda/internal/driver"
	"github.com/dptrain/dptrain/cuda/internal/kernel"
	"github.com/dptrain/dptrain/internal/engine"
)

// Gradients is a program and its data on a device. It launches the kernels that compute gradients and predictions.
type Gradients struct {
	program *Program
	device  driver.Device
	threads int // of a block
	blocks  int // with buffers
	memory  driver.Memory

	gradient gradientProgram
	predict  prediction
}

// Parameters of kernels: program.cuh has the structs of these names and describes their fields.
type (
	program struct {
		Code, Tables, Constants, Floats, Indices       driver.Pointer
		Instructions, Capacity, FloatCount, IndexCount int32
	}
	dataset struct {
		Floats, Integers driver.Pointer
		Samples, Unused  int32
	}
	gradientProgram struct {
		Code              program
		Data              dataset
		Reductions        driver.Pointer
		Reduced, Prepared int32
	}
	prediction struct {
		Code                             program
		Data                             dataset
		Output, Which, Params, Out       driver.Pointer
		Runs, ParamsSize, Size, Prepared int32
	}
)

// Load uploads the program and its data. Kernels run with the given number of threads in each block and one block for
// each multiprocessor. If memory is short, they run with fewer blocks, and Load calls warn.
func (l *Program) Load(d driver.Device, data *engine.Data, threads int, warn func(string)) (_ *Gradients, err error) {
	g := &Gradients{program: l, device: d, threads: threads, memory: driver.Memory{Device: d}}
	defer func() {
		if err != nil {
			err = errors.Join(err, g.memory.Free())
		}
	}()
	gradient, predict := &g.gradient, &g.predict
	for _, v := range []struct {
		to   *driver.Pointer
		from []int32
	}{
		{&gradient.Code.Code, l.Gradient.Code}, {&predict.Code.Code, l.Prediction.Code}, {&gradient.Reductions, l.Sums},
		{&predict.Output, l.output}, {&gradient.Code.Tables, l.tables},
	} {
		if *v.to, err = driver.Put(&g.memory, v.from); err != nil {
			return nil, err
		}
	}
	if gradient.Code.Constants, err = driver.Put(&g.memory, l.constants); err != nil {
		return nil, err
	}
	gradient.Reduced, gradient.Prepared = int32(len(l.Sums)/SumWords), int32(l.Gradient.Prepared)
	at, err := l.upload(&g.memory, data, 0, data.Samples, true)
	if err != nil {
		return nil, err
	}
	gradient.Data = dataset{Floats: at.floats, Integers: at.integers, Samples: int32(data.Samples)}
	if err := g.makeBuffers(warn); err != nil {
		return nil, err
	}
	gradient.Code.Instructions, gradient.Code.Capacity = int32(len(l.Gradient.Code)/Words), int32(l.Tile)
	gradient.Code.FloatCount, gradient.Code.IndexCount = int32(l.Gradient.Memory.Floats), int32(l.Gradient.Memory.Indices)
	code := gradient.Code
	code.Code, code.Instructions = predict.Code.Code, int32(len(l.Prediction.Code)/Words)
	code.FloatCount, code.IndexCount = int32(l.Prediction.Memory.Floats), int32(l.Prediction.Memory.Indices)
	predict.Code, predict.ParamsSize, predict.Size = code, int32(l.layout.Size), int32(l.Output.Size)
	predict.Prepared = int32(l.Prediction.Prepared)
	return g, nil
}

// makeBuffers allocates the blocks' buffers. All launches share them: they run one after another.
func (g *Gradients) makeBuffers(warn func(string)) error {
	l := g.program
	floats := 4 * l.Tile * max(l.Gradient.Memory.Floats, l.Prediction.Memory.Floats)
	indices := 4 * l.Tile * max(l.Gradient.Memory.Indices, l.Prediction.Memory.Indices)
	want := max(1, g.device.Info().Multiprocessors)
	blocks, err := driver.Halve(want, func(n int) error {
		m := driver.Memory{Device: g.device}
		f, err := m.Alloc(n * floats)
		if err == nil {
			g.gradient.Code.Floats = f
			g.gradient.Code.Indices, err = m.Alloc(n * indices)
		}
		if err != nil {
			return errors.Join(err, m.Free())
		}
		g.memory.Join(m)
		return nil
	})
	if err != nil {
		return fmt.Errorf("work memory of %d bytes for a tile of %d samples: %w", floats+indices, l.Tile, err)
	}
	if blocks < want {
		warn(fmt.Sprintf("%s is short of memory: %d of its %d multiprocessors work", g.device.Info().Name, blocks, want))
	}
	g.blocks = blocks
	return nil
}

// Arithmetic names what decides the bits of sums and predictions besides the PTX and the device: the bytecode's digest.
func (g *Gradients) Arithmetic() string { return fmt.Sprintf("program %x", g.program.digest[:8]) }

// ClippedSums launches the kernel that adds the contributions of every run's minibatch to the run's row of Sums, in
// units of the fine grid, and writes the samples' squared norms to Norms.
func (g *Gradients) ClippedSums(m kernel.Minibatches) error {
	return g.device.Launch("clipped_sums", g.blocks, g.threads, driver.StructOf(&g.gradient), driver.StructOf(&m))
}

// Predict computes the outputs for samples [from, to) of data with some rows of params, and writes the outputs for row
// rows[k] to out[k], which has space for all of data. It waits for the launches before it.
func (g *Gradients) Predict(data *engine.Data, from, to int, params driver.Pointer, rows []int32, out [][]float32) (err error) {
	m := driver.Memory{Device: g.device}
	defer func() { err = errors.Join(err, m.Free()) }()
	n, size := to-from, g.program.Output.Size
	at, err := g.program.upload(&m, data, from, to, false)
	if err != nil {
		return err
	}
	p := g.predict
	p.Data = dataset{Floats: at.floats, Integers: at.integers, Samples: int32(n)}
	p.Params, p.Runs = params, int32(len(rows))
	if p.Which, err = driver.Put(&m, rows); err != nil {
		return err
	}
	if p.Out, err = m.Alloc(4 * n * size * len(rows)); err != nil {
		return err
	}
	if err := g.device.Launch("predict", g.blocks, g.threads, driver.StructOf(&p)); err != nil {
		return err
	}
	for k := range rows {
		if err := driver.Download(g.device, out[k][from*size:to*size], p.Out, k*n*size); err != nil {
			return err
		}
	}
	return nil
}

// Free frees the program, its data and the buffers.
func (g *Gradients) Free() error { return g.memory.Free() }
