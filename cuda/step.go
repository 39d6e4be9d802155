package cuda

import (
	"errors"
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/cuda/internal/driver"
	"github.com/dptrain/dptrain/cuda/internal/kernel"
	"github.com/dptrain/dptrain/cuda/internal/walk"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/random"
)

// step takes steps of the runs that a group has on one device. It owns their memory there: tables, minibatches and
// states.
type step struct {
	device    driver.Device
	gradients *walk.Gradients
	threads   int // of a block
	runs      int
	width     int // runs with memory for minibatches
	ahead     int // steps whose minibatches are drawn at a time
	memory    driver.Memory

	// The kernels' parameters, for a wave that begins at run 0.
	group       kernel.Group
	minibatches kernel.Minibatches

	scratch driver.Pointer // a row for each run: gradients released to callers that move parameters themselves
	zeros   []float32      // a row before a release
}

// newStep allocates memory for jobs on samples, and uploads their rows in the tables. It calls warn if not all
// minibatches fit.
func newStep(d driver.Device, g *walk.Gradients, threads int, l engine.Layout, jobs []engine.Job, samples int, warn func(string)) (_ *step, err error) {
	s := &step{device: d, gradients: g, threads: threads, runs: len(jobs), memory: driver.Memory{Device: d}}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.memory.Free())
		}
	}()
	perRun := max(1, (l.Size+8*threads-1)/(8*threads)) // a thread has eight coordinates
	s.group.UpdateBlocks = int32(perRun)
	s.minibatches.Size = int32(l.Size)
	if err := s.describe(jobs, samples, l); err != nil {
		return nil, err
	}
	if s.group.Occupied, err = driver.Put(&s.memory, occupied(l)); err != nil {
		return nil, err
	}
	for _, v := range []*driver.Pointer{&s.minibatches.Params, &s.group.Firsts, &s.group.Seconds} {
		if *v, err = s.memory.Cleared(4 * l.Size * len(jobs)); err != nil {
			return nil, err
		}
	}
	if s.minibatches.Sums, err = s.memory.Cleared(8 * l.Size * len(jobs)); err != nil {
		return nil, err
	}
	if err := s.makeScratch(jobs, l); err != nil {
		return nil, err
	}
	return s, s.makeMinibatches(warn)
}

// describe uploads the rows of jobs in the tables. Runs with the same members share their list.
func (s *step) describe(jobs []engine.Job, samples int, l engine.Layout) (err error) {
	var identities []uint32
	var settings []float64
	var members []int32
	var lists []int64
	var known [][]int32
	var begins []int64 // of the known lists, among members
	all := allOf(samples)
	width := 1
	for _, job := range jobs {
		identities = append(identities, identityOf(job)...)
		settings = append(settings, settingsOf(job, samples, l.Size)...)
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
		width = max(width, len(list))
	}
	s.minibatches.Width = int32(width + random.MostInCell)
	if s.minibatches.Identities, err = driver.Put(&s.memory, identities); err != nil {
		return err
	}
	if s.minibatches.Settings, err = driver.Put(&s.memory, settings); err != nil {
		return err
	}
	if s.group.Members, err = driver.Put(&s.memory, members); err != nil {
		return err
	}
	if s.group.Lists, err = driver.Put(&s.memory, lists); err != nil {
		return err
	}
	s.minibatches.Clocks, err = s.memory.Cleared(4 * kernel.ClockColumns * len(jobs))
	return err
}

// setClocks uploads the runs' numbers of steps taken and of steps to take.
func (s *step) setClocks(done, steps []int) error {
	var clocks []int32
	for i, n := range done {
		clocks = append(clocks, int32(n), int32(n+steps[i]), int32(n)) // from, end, done
	}
	return driver.Upload(s.device, s.minibatches.Clocks, 0, clocks)
}

// done reads the numbers of steps that the runs have taken.
func (s *step) done() ([]int, error) {
	clocks := make([]int32, kernel.ClockColumns*s.runs)
	if err := driver.Download(s.device, clocks, s.minibatches.Clocks, 0); err != nil {
		return nil, err
	}
	var done []int
	for i := range s.runs {
		done = append(done, int(clocks[kernel.ClockColumns*i+kernel.ClockDone]))
	}
	return done, nil
}

func allOf(n int) []int32 {
	all := make([]int32, n)
	for i := range all {
		all[i] = int32(i)
	}
	return all
}

// Minibatches don't depend on parameters. So they are drawn for up to maxAhead steps in one launch, unless their lists
// would take more than maxLists bytes.
const (
	maxAhead = 64
	maxLists = 64 << 20
)

// makeMinibatches allocates memory for the minibatches of all runs at a time, for some steps ahead. If that is too
// much, it allocates for one step, and if necessary for fewer runs, which then take turns.
func (s *step) makeMinibatches(warn func(string)) error {
	members := int(s.minibatches.Width)
	s.width, s.ahead = s.runs, max(1, min(maxAhead, maxLists/(4*members*s.runs)))
	err := s.allocate(s.runs, s.ahead)
	if !errors.Is(err, driver.ErrOutOfMemory) {
		return err
	}
	s.ahead = 1
	if s.width, err = driver.Halve(s.runs, func(n int) error { return s.allocate(n, 1) }); err != nil {
		return fmt.Errorf("minibatches of up to %d samples: %w", members, err)
	}
	if s.width < s.runs {
		warn(fmt.Sprintf("%s is short of memory: %d of %d runs advance at a time", s.device.Info().Name, s.width, s.runs))
	}
	return nil
}

// allocate allocates memory for the minibatches of some runs in some steps, or nothing if there isn't enough.
func (s *step) allocate(runs, steps int) error {
	m, memory := &s.minibatches, driver.Memory{Device: s.device}
	for _, v := range []struct {
		to    *driver.Pointer
		bytes int
	}{{&m.Batches, 4 * int(m.Width) * steps}, {&m.Sizes, 4 * steps}, {&m.Norms, 8 * int(m.Width)}} {
		var err error
		if *v.to, err = memory.Alloc(runs * v.bytes); err != nil {
			return errors.Join(err, memory.Free())
		}
	}
	s.memory.Join(memory)
	return nil
}

// wave is consecutive runs whose minibatches fit in memory at a time.
type wave struct{ from, n int }

func (s *step) waves() []wave {
	var out []wave
	for from := 0; from < s.runs; from += s.width {
		out = append(out, wave{from, min(s.width, s.runs-from)})
	}
	return out
}

// parameters returns the kernels' parameters for a wave: tables begin with its first run's row, and minibatches are its
// own.
func (s *step) parameters(w wave) (kernel.Group, kernel.Minibatches) {
	g, m, size := s.group, s.minibatches, int(s.minibatches.Size)
	for _, table := range []struct {
		at    *driver.Pointer
		bytes int // of a row
	}{
		{&m.Identities, 4 * kernel.IdentityColumns}, {&m.Clocks, 4 * kernel.ClockColumns}, {&g.Lists, 8 * kernel.ListColumns},
		{&g.Firsts, 4 * size}, {&g.Seconds, 4 * size},
		{&m.Settings, 8 * kernel.SettingColumns}, {&m.Params, 4 * size}, {&m.Sums, 8 * size},
	} {
		*table.at += driver.Pointer(w.from * table.bytes)
	}
	m.Runs = int32(w.n)
	return g, m
}

// take launches steps of a wave's runs, after the given number of steps launched since the clocks were set.
func (s *step) take(w wave, launched, steps int) error {
	for taken := 0; taken < steps; taken += s.ahead {
		n := min(s.ahead, steps-taken)
		if err := s.draw(w, launched+taken, n); err != nil {
			return err
		}
		for slot := range n {
			if err := errors.Join(s.clippedSums(w, launched+taken, slot), s.update(w, launched+taken, slot)); err != nil {
				return err
			}
		}
	}
	return nil
}

// draw draws the minibatches of the next steps, one in each slot.
func (s *step) draw(w wave, launched, steps int) error {
	g, m := s.parameters(w)
	m.Taken = int32(launched)
	return s.device.Launch("draw_minibatches", w.n*steps, kernel.DrawThreads, driver.StructOf(&g), driver.StructOf(&m))
}

func (s *step) clippedSums(w wave, launched, slot int) error {
	_, m := s.parameters(w)
	m.Taken, m.Slot = int32(launched), int32(slot)
	return s.gradients.ClippedSums(m)
}

func (s *step) update(w wave, launched, slot int) error {
	g, m := s.parameters(w)
	return s.launchUpdate(w, g, m, launched, slot)
}

func (s *step) launchUpdate(w wave, g kernel.Group, m kernel.Minibatches, launched, slot int) error {
	m.Taken, m.Slot = int32(launched), int32(slot)
	return s.device.Launch("release_and_update", w.n*int(g.UpdateBlocks), s.threads, driver.StructOf(&g), driver.StructOf(&m))
}

// predict computes the outputs for samples [from, to) of data by some of the runs.
func (s *step) predict(data *engine.Data, from, to int, runs []int32, out [][]float32) error {
	return s.gradients.Predict(data, from, to, s.minibatches.Params, runs, out)
}

// upload writes a run's state.
func (s *step) upload(run int, state engine.State) error {
	for _, v := range s.vectors(state) {
		if err := driver.Upload(s.device, v.device, run*int(s.minibatches.Size), v.host); err != nil {
			return err
		}
	}
	return nil
}

// download reads a run's state, except its step, into the vectors of state.
func (s *step) download(run int, state engine.State) error {
	for _, v := range s.vectors(state) {
		if err := driver.Download(s.device, v.host, v.device, run*int(s.minibatches.Size)); err != nil {
			return err
		}
	}
	return nil
}

// vector is a vector of a run's state, and the device's table of this vector for all runs.
type vector struct {
	device driver.Pointer
	host   []float32
}

// vectors returns the vectors that a state has.
func (s *step) vectors(state engine.State) []vector {
	all := []vector{{s.minibatches.Params, state.Params}, {s.group.Firsts, state.First}, {s.group.Seconds, state.Second}}
	return slices.DeleteFunc(all, func(v vector) bool { return len(v.host) == 0 })
}
