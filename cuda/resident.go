package cuda

import (
	"errors"
	"fmt"

	"github.com/dptrain/dptrain/cuda/internal/driver"
	"github.com/dptrain/dptrain/internal/engine"
)

// holding is memory on a device that is given back together.
type holding struct {
	device driver.Device
	held   []driver.Pointer
}

func (h *holding) alloc(bytes int) (driver.Pointer, error) {
	p, err := h.device.Alloc(max(bytes, 8))
	if err == nil {
		h.held = append(h.held, p)
	}
	return p, err
}

// cleared allocates memory of zeros.
func (h *holding) cleared(bytes int) (driver.Pointer, error) {
	p, err := h.alloc(bytes)
	if err != nil {
		return 0, err
	}
	return p, h.device.Clear(p, 0, max(bytes, 8))
}

// free gives everything back. Of a device that is lost one error says what all would.
func (h *holding) free() error {
	var first error
	for _, p := range h.held {
		if err := h.device.Free(p); err != nil && first == nil {
			first = &DeviceError{h.device.Info().Name, fmt.Errorf("give memory back: %w", err)}
		}
	}
	h.held = nil
	return first
}

// put uploads numbers.
func put[T driver.Number](h *holding, numbers []T) (driver.Pointer, error) {
	if len(numbers) == 0 {
		return h.alloc(0) // kernels take no null pointers
	}
	p, err := driver.New(h.device, numbers)
	if err == nil {
		h.held = append(h.held, p)
	}
	return p, err
}

// resident is a program and its data on one device.
type resident struct {
	holding
	engine *Engine
	code   *lowered

	gradient, prediction, sums, output, tables, constants, occupied driver.Pointer

	data    columns
	scratch scratch
}

// scratch is the memory in which thread blocks walk through a program. All launches on a device share it: they run one after
// another.
type scratch struct {
	blocks          int
	floats, indices driver.Pointer
}

// upload makes a program and its data resident.
func (e *Engine) upload(d driver.Device, code *lowered, data *engine.Data) (_ *resident, err error) {
	r := &resident{holding: holding{device: d}, engine: e, code: code}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.free())
		}
	}()
	for _, v := range []struct {
		to   *driver.Pointer
		from []int32
	}{{&r.gradient, code.gradient.code}, {&r.prediction, code.prediction.code}, {&r.sums, code.sums}, {&r.output, code.output}, {&r.tables, code.tables}} {
		if *v.to, err = put(&r.holding, v.from); err != nil {
			return nil, err
		}
	}
	if r.constants, err = put(&r.holding, code.constants); err != nil {
		return nil, err
	}
	if r.occupied, err = put(&r.holding, occupied(code.layout)); err != nil {
		return nil, err
	}
	if r.data, err = uploadData(&r.holding, code, data, 0, data.Samples, true); err != nil {
		return nil, err
	}
	return r, r.makeScratch()
}

// makeScratch takes memory for a thread block on each multiprocessor, or for fewer where that is too much.
func (r *resident) makeScratch() error {
	floats := 4 * r.code.chunk * max(r.code.gradient.memory.Floats, r.code.prediction.memory.Floats)
	indices := 4 * r.code.chunk * max(r.code.gradient.memory.Indices, r.code.prediction.memory.Indices)
	want := max(1, r.device.Info().Multiprocessors)
	blocks, err := lessOf(want, func(n int) error {
		h := holding{device: r.device}
		s := scratch{blocks: n}
		var err error
		if s.floats, err = h.alloc(n * floats); err == nil {
			s.indices, err = h.alloc(n * indices)
		}
		if err != nil {
			return errors.Join(err, h.free())
		}
		r.scratch = s
		r.held = append(r.held, h.held...)
		return nil
	})
	if err != nil {
		return fmt.Errorf("work memory of %d bytes for a chunk of %d samples: %w", floats+indices, r.code.chunk, err)
	}
	if blocks < want {
		r.engine.warn(fmt.Sprintf("%s is short of memory: %d of its %d multiprocessors work", r.device.Info().Name, blocks, want))
	}
	return nil
}

// lessOf calls f with n, then with half of it, and so on, while memory is full, and returns what it got.
func lessOf(n int, f func(int) error) (int, error) {
	for {
		err := f(n)
		if err == nil || n <= 1 || !errors.Is(err, driver.ErrOutOfMemory) {
			return n, err
		}
		n /= 2
	}
}
