package cuda

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/dptrain/dptrain/cuda/internal/driver"
	"github.com/dptrain/dptrain/internal/engine"
)

// part is the runs of a group that are on one device. They advance together: a step of all of them is four launches.
type part struct {
	*resident
	first  int // the number of its first run in the group
	jobs   []engine.Job
	places int
	done   []atomic.Int64
	states []engine.State // as the device last gave them
	stale  []bool         // the run has moved since
	broken error
	batch  int // steps between two looks at the device

	memory                                       holding
	identities, clocks, settings, lists, members driver.Pointer
	params, firsts, seconds, totals              driver.Pointer
	most                                         int // members of a run; at least 1
	width                                        int // runs that there is room for at a time
	masks, batches, cuts, sizes, norms           driver.Pointer
}

// start makes room for jobs.
func (r *resident) start(jobs []engine.Job, places int) (_ *part, err error) {
	p := &part{resident: r, jobs: slices.Clone(jobs), places: places, done: make([]atomic.Int64, len(jobs)), stale: make([]bool, len(jobs)), batch: 1, memory: holding{device: r.device}}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.memory.free())
		}
	}()
	if err := p.describe(); err != nil {
		return nil, err
	}
	size := r.code.layout.Size
	for i, job := range jobs {
		s := engine.State{Params: slices.Clone(job.Initial)}
		if job.Optimizer.Method == engine.Adam {
			s.First, s.Second = make([]float32, size), make([]float32, size)
		}
		p.states = append(p.states, s)
		p.jobs[i].Members, p.jobs[i].Initial = nil, nil // the device has them
	}
	for _, v := range []*driver.Pointer{&p.params, &p.firsts, &p.seconds} {
		if *v, err = p.memory.cleared(4 * size * len(jobs)); err != nil {
			return nil, err
		}
	}
	if p.totals, err = p.memory.cleared(8 * size * len(jobs)); err != nil {
		return nil, err
	}
	for i := range jobs {
		if err := p.uploadState(i); err != nil {
			return nil, err
		}
	}
	return p, p.makeRoom()
}

// describe uploads what kernels know of the runs. Runs with the same members share their list.
func (p *part) describe() (err error) {
	var identities []uint32
	var settings []float64
	var members []int32
	var lists []int64
	var known [][]int32
	var begins []int64 // of the known lists, among members
	all := everyone(p.places)
	p.most = 1
	for _, job := range p.jobs {
		identities = append(identities, identityOf(job)...)
		settings = append(settings, settingsOf(job, p.places)...)
		list := job.Members
		if list == nil {
			list = all
		}
		k := slices.IndexFunc(known, func(other []int32) bool { return slices.Equal(other, list) })
		if k < 0 {
			k = len(known)
			known, begins = append(known, list), append(begins, int64(len(members)))
			members = append(members, list...)
		}
		lists = append(lists, begins[k], int64(len(list)))
		p.most = max(p.most, len(list))
	}
	if p.identities, err = put(&p.memory, identities); err != nil {
		return err
	}
	if p.settings, err = put(&p.memory, settings); err != nil {
		return err
	}
	if p.members, err = put(&p.memory, members); err != nil {
		return err
	}
	if p.lists, err = put(&p.memory, lists); err != nil {
		return err
	}
	p.clocks, err = p.memory.alloc(4 * clockColumns * len(p.jobs))
	return err
}

func everyone(n int) []int32 {
	all := make([]int32, n)
	for i := range all {
		all[i] = int32(i)
	}
	return all
}

// makeRoom takes memory for the minibatches of all runs at a time, or of fewer where that is too much: those then take turns.
func (p *part) makeRoom() error {
	width, err := lessOf(len(p.jobs), func(n int) error {
		h := holding{device: p.device}
		for _, v := range []struct {
			to    *driver.Pointer
			bytes int
		}{{&p.masks, 4 * maskWords(p.most)}, {&p.batches, 4 * p.most}, {&p.cuts, 4 * (p.most + 1)}, {&p.sizes, 8}, {&p.norms, 8 * p.most}} {
			var err error
			if *v.to, err = h.alloc(n * v.bytes); err != nil {
				return errors.Join(err, h.free())
			}
		}
		p.memory.held = append(p.memory.held, h.held...)
		return nil
	})
	if err != nil {
		return fmt.Errorf("minibatches of up to %d samples: %w", p.most, err)
	}
	if width < len(p.jobs) {
		p.engine.warn(fmt.Sprintf("%s is short of memory: %d of %d runs advance at a time", p.device.Info().Name, width, len(p.jobs)))
	}
	p.width = width
	return nil
}

// wave is neighbouring runs that there is room for at a time.
type wave struct{ from, n int }

func (p *part) waves() []wave {
	var out []wave
	for from := 0; from < len(p.jobs); from += p.width {
		out = append(out, wave{from, min(p.width, len(p.jobs)-from)})
	}
	return out
}

// row returns where a run's row begins in a table of rows of some bytes.
func row(table driver.Pointer, run, bytes int) driver.Pointer {
	return table + driver.Pointer(run*bytes)
}

// step launches a step of the runs of a wave.
func (p *part) step(w wave) error {
	if err := p.draw(w); err != nil {
		return err
	}
	if err := p.clippedSums(w); err != nil {
		return err
	}
	return p.update(w)
}

func (p *part) draw(w wave) error {
	clocks, lists := row(p.clocks, w.from, 4*clockColumns), row(p.lists, w.from, 16)
	masks := maskWords(p.most)
	perRun := (masks + p.engine.threads - 1) / p.engine.threads
	if err := p.device.Launch("draw_members", w.n*perRun, p.engine.threads,
		row(p.identities, w.from, 4*identityColumns), clocks, lists, int32(perRun), int32(masks), p.masks); err != nil {
		return err
	}
	return p.device.Launch("draw_minibatch", w.n, drawThreads, clocks, lists, p.members, int32(masks), p.masks,
		int32(p.code.chunk), int32(p.most), p.batches, p.cuts, p.sizes)
}

// maskWords is the number of words with a bit for each of some members; at least one.
func maskWords(members int) int { return max(1, (members+31)/32) }

// clippedSums adds the clipped sums of the minibatches that were drawn.
func (p *part) clippedSums(w wave) error {
	c, size := p.code, p.code.layout.Size
	return p.device.Launch("clipped_sums", p.scratch.blocks, p.engine.threads,
		p.gradient, int32(len(c.gradient.code)/words), p.sums, int32(len(c.sums)/sumWords), p.tables, p.constants, p.data.floats, p.data.integers,
		int32(p.places), int32(w.n), row(p.settings, w.from, 8*settingColumns), int32(p.most), p.batches, p.cuts, p.sizes,
		int32(size), row(p.params, w.from, 4*size), int32(c.chunk), int32(c.gradient.memory.Floats), p.scratch.floats,
		int32(c.gradient.memory.Indices), p.scratch.indices, p.norms, row(p.totals, w.from, 8*size))
}

func (p *part) update(w wave) error {
	size := p.code.layout.Size
	perRun := max(1, (size+8*p.engine.threads-1)/(8*p.engine.threads))
	return p.device.Launch("release_and_update", w.n*perRun, p.engine.threads,
		row(p.identities, w.from, 4*identityColumns), row(p.clocks, w.from, 4*clockColumns), row(p.settings, w.from, 8*settingColumns),
		int32(size), int32(perRun), p.occupied, row(p.totals, w.from, 8*size),
		row(p.params, w.from, 4*size), row(p.firsts, w.from, 4*size), row(p.seconds, w.from, 4*size))
}

// advance takes steps[i] steps of run i. It returns early, after a whole step, if the context is cancelled.
func (p *part) advance(ctx context.Context, steps []int) error {
	if err := p.usable(); err != nil {
		return err
	}
	if slices.Max(steps) == 0 || ctx.Err() != nil {
		return nil
	}
	for i, n := range steps {
		p.stale[i] = p.stale[i] || n > 0
	}
	if err := p.launch(ctx, steps); err != nil {
		p.fail(err)
	}
	return p.broken
}

// usable tells why the part's runs can't do anything any more.
func (p *part) usable() error {
	if p.broken == nil && p.held == nil {
		return errors.New("what was loaded is closed")
	}
	return p.broken
}

// fail ends all runs where the device last gave their states.
func (p *part) fail(err error) {
	p.broken = &DeviceError{p.device.Info().Name, err}
	for i, s := range p.states {
		p.done[i].Store(int64(s.Step))
	}
}

// As long as this a device is left to itself before the host looks where it is.
const pollEvery = 20 * time.Millisecond

// launch launches the steps. Between two looks at the device there are as many as fill the time.
func (p *part) launch(ctx context.Context, steps []int) error {
	var clocks []int32
	from := make([]int, len(steps))
	for i, n := range steps {
		from[i] = int(p.done[i].Load())
		clocks = append(clocks, -1, int32(from[i]), int32(from[i]+n))
	}
	if err := driver.Upload(p.device, p.clocks, 0, clocks); err != nil {
		return err
	}
	total, waves := slices.Max(steps), p.waves()
	for launched := 0; launched < total && ctx.Err() == nil; {
		start := time.Now()
		n := min(p.batch, total-launched)
		for range n {
			for _, w := range waves {
				if err := p.step(w); err != nil {
					return err
				}
			}
		}
		if err := p.device.Synchronize(); err != nil {
			return err
		}
		launched += n
		if err := driver.Download(p.device, clocks, p.clocks, 0); err != nil {
			return err
		}
		for i, n := range steps {
			done := from[i] + min(launched, n)
			if counted := clocks[clockColumns*i+1]; int(counted) != done {
				return fmt.Errorf("its count of steps is %d where %d were launched", counted, done)
			}
			p.done[i].Store(int64(done))
		}
		switch took := time.Since(start); {
		case took < pollEvery/2 && n == p.batch:
			p.batch *= 2
		case took > 2*pollEvery:
			p.batch = max(1, n/2)
		}
	}
	return nil
}

// state returns a copy of a run's state: of the last that the device gave, if it fails.
func (p *part) state(run int) engine.State {
	if p.stale[run] && p.broken == nil {
		if s, err := p.fetch(run); err != nil {
			p.fail(err)
		} else {
			p.states[run], p.stale[run] = s, false
		}
	}
	return clone(p.states[run])
}

// vector is a part of a run's state, and the device's table of all runs'.
type vector struct {
	device driver.Pointer
	host   []float32
}

// vectors returns the parts that a state has.
func (p *part) vectors(s engine.State) []vector {
	all := []vector{{p.params, s.Params}, {p.firsts, s.First}, {p.seconds, s.Second}}
	return slices.DeleteFunc(all, func(v vector) bool { return len(v.host) == 0 })
}

// fetch copies a run's state from the device.
func (p *part) fetch(run int) (engine.State, error) {
	s, size := clone(p.states[run]), p.code.layout.Size
	for _, v := range p.vectors(s) {
		if err := driver.Download(p.device, v.host, v.device, run*size); err != nil {
			return engine.State{}, err
		}
	}
	s.Step = int(p.done[run].Load())
	return s, nil
}

// uploadState makes a run's state the device's.
func (p *part) uploadState(run int) error {
	for _, v := range p.vectors(p.states[run]) {
		if err := driver.Upload(p.device, v.device, run*p.code.layout.Size, v.host); err != nil {
			return err
		}
	}
	return nil
}

func (p *part) restore(run int, s engine.State) error {
	if err := p.jobs[run].CheckState(s, p.code.layout); err != nil {
		return fmt.Errorf("restore state: %w", err)
	}
	if err := p.usable(); err != nil {
		return fmt.Errorf("restore state: %w", err)
	}
	p.states[run], p.stale[run] = clone(s), false
	p.done[run].Store(int64(s.Step))
	if err := p.uploadState(run); err != nil {
		p.fail(err)
	}
	return p.broken
}

func clone(s engine.State) engine.State {
	return engine.State{Step: s.Step, Params: slices.Clone(s.Params), First: slices.Clone(s.First), Second: slices.Clone(s.Second)}
}
