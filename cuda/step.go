package cuda

import (
	"errors"
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/cuda/internal/driver"
	"github.com/dptrain/dptrain/cuda/internal/kernel"
	"github.com/dptrain/dptrain/internal/engine"
)

// step takes steps of the runs that a group has on one device. It owns their memory there: tables, minibatches and
// states.
type step struct {
	device    driver.Device
	gradients gradients
	threads   int // of a block
	runs      int
	width     int // runs that there is memory for the minibatches of
	memory    driver.Memory

	// The kernels' parameters, for a wave that begins at run 0.
	group       kernel.Group
	minibatches kernel.Minibatches
}

// newStep allocates memory for jobs on samples, and uploads what kernels know of them. It tells warn if not all
// minibatches fit.
func newStep(d driver.Device, g gradients, threads int, l engine.Layout, jobs []engine.Job, samples int, warn func(string)) (_ *step, err error) {
	s := &step{device: d, gradients: g, threads: threads, runs: len(jobs), memory: driver.Memory{Device: d}}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.memory.Free())
		}
	}()
	perRun := max(1, (l.Size+8*threads-1)/(8*threads)) // a thread has eight coordinates
	s.group.UpdateBlocks = int32(perRun)
	s.minibatches.Size, s.minibatches.Chunk = int32(l.Size), int32(g.Chunk())
	if err := s.describe(jobs, samples); err != nil {
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
	return s, s.makeMinibatches(warn)
}

// describe uploads the rows of jobs in the tables. Runs with the same members share their list.
func (s *step) describe(jobs []engine.Job, samples int) (err error) {
	var identities []uint32
	var settings []float64
	var members []int32
	var lists []int64
	var known [][]int32
	var begins []int64 // of the known lists, among members
	all := everyone(samples)
	width := 1
	for _, job := range jobs {
		identities = append(identities, identityOf(job)...)
		settings = append(settings, settingsOf(job, samples)...)
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
	words := maskWords(width)
	s.minibatches.Width, s.group.MaskWords = int32(width), int32(words)
	s.group.DrawBlocks = int32((words + s.threads - 1) / s.threads)
	if s.group.Identities, err = driver.Put(&s.memory, identities); err != nil {
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
	s.group.Clocks, err = s.memory.Alloc(4 * kernel.ClockColumns * len(jobs))
	return err
}

func everyone(n int) []int32 {
	all := make([]int32, n)
	for i := range all {
		all[i] = int32(i)
	}
	return all
}

// maskWords returns the number of words that have a bit for each of some members, at least one.
func maskWords(members int) int { return max(1, (members+31)/32) }

// makeMinibatches allocates memory for the minibatches of all runs at a time, or of fewer if that is too much: those
// then take turns.
func (s *step) makeMinibatches(warn func(string)) error {
	m, members := &s.minibatches, int(s.minibatches.Width)
	width, err := driver.Halve(s.runs, func(n int) error {
		memory := driver.Memory{Device: s.device}
		for _, v := range []struct {
			to    *driver.Pointer
			bytes int
		}{
			{&s.group.Masks, 4 * int(s.group.MaskWords)}, {&m.Batches, 4 * members}, {&m.Cuts, 4 * (members + 1)},
			{&m.Sizes, 4 * kernel.SizeColumns}, {&m.Norms, 8 * members},
		} {
			var err error
			if *v.to, err = memory.Alloc(n * v.bytes); err != nil {
				return errors.Join(err, memory.Free())
			}
		}
		s.memory.Join(memory)
		return nil
	})
	if err != nil {
		return fmt.Errorf("minibatches of up to %d samples: %w", members, err)
	}
	if width < s.runs {
		warn(fmt.Sprintf("%s is short of memory: %d of %d runs advance at a time", s.device.Info().Name, width, s.runs))
	}
	s.width = width
	return nil
}

// wave is neighbouring runs whose minibatches there is memory for at a time.
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
		{&g.Identities, 4 * kernel.IdentityColumns}, {&g.Clocks, 4 * kernel.ClockColumns}, {&g.Lists, 8 * kernel.ListColumns},
		{&g.Firsts, 4 * size}, {&g.Seconds, 4 * size},
		{&m.Settings, 8 * kernel.SettingColumns}, {&m.Params, 4 * size}, {&m.Sums, 8 * size},
	} {
		*table.at += driver.Pointer(w.from * table.bytes)
	}
	m.Runs = int32(w.n)
	return g, m
}

// take launches a step of the runs of a wave.
func (s *step) take(w wave) error {
	if err := s.draw(w); err != nil {
		return err
	}
	if err := s.clippedSums(w); err != nil {
		return err
	}
	return s.update(w)
}

func (s *step) draw(w wave) error {
	g, m := s.parameters(w)
	group := driver.StructOf(&g)
	if err := s.device.Launch("draw_members", w.n*int(g.DrawBlocks), s.threads, group); err != nil {
		return err
	}
	return s.device.Launch("draw_minibatch", w.n, kernel.DrawThreads, group, driver.StructOf(&m))
}

func (s *step) clippedSums(w wave) error {
	_, m := s.parameters(w)
	return s.gradients.ClippedSums(m)
}

func (s *step) update(w wave) error {
	g, m := s.parameters(w)
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

// download reads a run's state, but for its step, into the vectors of the given one.
func (s *step) download(run int, state engine.State) error {
	for _, v := range s.vectors(state) {
		if err := driver.Download(s.device, v.host, v.device, run*int(s.minibatches.Size)); err != nil {
			return err
		}
	}
	return nil
}

// vector is a vector of a run's state, and the device's table of all runs'.
type vector struct {
	device driver.Pointer
	host   []float32
}

// vectors returns the vectors that a state has.
func (s *step) vectors(state engine.State) []vector {
	all := []vector{{s.minibatches.Params, state.Params}, {s.group.Firsts, state.First}, {s.group.Seconds, state.Second}}
	return slices.DeleteFunc(all, func(v vector) bool { return len(v.host) == 0 })
}
