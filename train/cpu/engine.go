package cpu

import (
	"fmt"
	"math"
	"runtime"

	"github.com/dptrain/dptrain/train/compile"
	"github.com/dptrain/dptrain/train/cpu/internal/kernel"
	"github.com/dptrain/dptrain/train/engine"
)

// Options change how fast the engine runs, never what it computes.
type Options struct {
	Workers int // cores that one run may use; 0 means all
}

// New returns the CPU engine.
func New(o Options) engine.Engine {
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	return &cpuEngine{workers: o.Workers}
}

type cpuEngine struct{ workers int }

// Name says which matrix product the engine was built with, the one thing that sets its speed.
func (e *cpuEngine) Name() string { return "cpu (" + kernel.Implementation() + ")" }

// Start checks the job and lays out its memory.
func (e *cpuEngine) Start(job engine.Job) (started engine.Run, err error) {
	defer guard(&err)
	if err := check(job); err != nil {
		return nil, fmt.Errorf("start run on cpu: %w", err)
	}
	r := &run{job: job, workers: e.workers}
	if job.Program.Missing() != nil {
		r.program = newOneByOne(job.Program)
		r.workers = 1 // Gorgonia's operations keep state
	} else if r.program, err = lower(job.Program); err != nil {
		return nil, fmt.Errorf("start run on cpu: %w", err)
	}
	r.bound = r.program.bind()
	if r.params = clone(job.Initial); r.params == nil {
		r.params = job.Program.Initial()
	}
	if job.Optimizer.Method == engine.Adam {
		r.first, r.second = zerosLike(r.params), zerosLike(r.params)
	}
	r.pieces = cut(r.params)
	if r.members = job.Members; r.members == nil {
		r.members = make([]int32, job.Data.Samples)
		for i := range r.members {
			r.members[i] = int32(i)
		}
	}
	m := job.Mechanism
	r.places = chunkPlaces(r.members, job.Data.Samples, m)
	r.std = m.NoiseMultiplier * m.ClippingNorm
	r.grid = gridFor(m, job.Data.Samples)
	r.coarse = coarseFor(r.grid, r.std)
	return r, nil
}

// chunkPlaces returns how many places of the data set make a chunk: as many as expect chunk samples if the
// members are spread evenly, fewer if they stand close together.
func chunkPlaces(members []int32, samples int, m engine.Mechanism) int {
	places := max(1, int(math.Min(chunk*float64(samples)/m.ExpectedBatchSize, math.MaxInt32)))
	for places > 1 && m.SamplingProbability*float64(crowd(members, places)) > 1.5*chunk {
		places /= 2
	}
	return places
}

// crowd returns the largest number of members in one chunk's places. A random subset has about as many
// everywhere; a shard has all its members in a few chunks, which must then be made smaller.
func crowd(members []int32, places int) int {
	most, n, at := 0, 0, -1
	for _, s := range members {
		if c := int(s) / places; c != at {
			at, n = c, 0
		}
		n++
		most = max(most, n)
	}
	return most
}

// gridFor returns the power of two g on which a step's sums are exact: batch and noise together stay
// below 2⁵¹ g.
func gridFor(m engine.Mechanism, samples int) float64 {
	return floorPower(m.ClippingNorm*(float64(samples)+16*m.NoiseMultiplier+1)) * 0x1p-50
}

// coarseFor returns the grid that noisy sums are rounded to: see the package comment.
func coarseFor(grid, std float64) float64 {
	if std == 0 {
		return grid
	}
	return math.Max(grid, floorPower(std)*0x1p-6)
}

// floorPower returns the largest power of two that is at most x.
func floorPower(x float64) float64 {
	_, e := math.Frexp(x)
	return math.Ldexp(1, e-1)
}

func check(job engine.Job) error {
	p, d, m, o := job.Program, job.Data, job.Mechanism, job.Optimizer
	switch {
	case p == nil:
		return fmt.Errorf("job has no program")
	case d == nil:
		return fmt.Errorf("job has no data")
	case m.SamplingProbability < 0 || m.SamplingProbability > 1 || math.IsNaN(m.SamplingProbability):
		return fmt.Errorf("sampling probability %v is outside [0, 1]", m.SamplingProbability)
	case !(m.NoiseMultiplier >= 0) || math.IsInf(m.NoiseMultiplier, 0):
		return fmt.Errorf("noise multiplier %v isn't a number from 0 up", m.NoiseMultiplier)
	case !(m.ClippingNorm > 0) || math.IsInf(m.ClippingNorm, 0):
		return fmt.Errorf("clipping norm %v isn't a positive number", m.ClippingNorm)
	case !(m.ExpectedBatchSize > 0) || math.IsInf(m.ExpectedBatchSize, 0):
		return fmt.Errorf("expected batch size %v isn't a positive number", m.ExpectedBatchSize)
	case math.IsNaN(o.LearningRate) || math.IsInf(o.LearningRate, 0):
		return fmt.Errorf("learning rate %v isn't a number", o.LearningRate)
	case o.Method != engine.SGD && o.Method != engine.Adam:
		return fmt.Errorf("unknown optimizer %q; there are %q and %q", o.Method, engine.SGD, engine.Adam)
	}
	if err := checkData(p, d, false); err != nil {
		return err
	}
	for i, s := range job.Members {
		if s < 0 || int(s) >= d.Samples {
			return fmt.Errorf("member %d is outside the %d samples", s, d.Samples)
		}
		if i > 0 && s <= job.Members[i-1] {
			return fmt.Errorf("members aren't ascending at position %d", i)
		}
	}
	if job.Initial != nil {
		return checkShapes(p, "initial parameters", job.Initial)
	}
	if p.Initial() == nil {
		return fmt.Errorf("initial parameters: the graph binds none and the job brings none")
	}
	return nil
}

// checkData holds the columns against the program's inputs; without labels a column may be nil.
func checkData(p *compile.Program, d *engine.Data, predict bool) error {
	if len(d.Columns) != len(p.Inputs) {
		return fmt.Errorf("data has %d columns, the graph %d inputs", len(d.Columns), len(p.Inputs))
	}
	for i, in := range p.Inputs {
		if predict && d.Columns[i] == nil && !p.PredictReads(i) {
			continue
		}
		if got, want := len(d.Columns[i]), d.Samples*in.Size; got != want {
			return fmt.Errorf("data for input %q has %d values, %d samples of %d need %d", in.Name, got, d.Samples, in.Size, want)
		}
	}
	return nil
}

func checkShapes(p *compile.Program, what string, values [][]float32) error {
	if len(values) != len(p.Params) {
		return fmt.Errorf("%s: %d tensors, the program has %d", what, len(values), len(p.Params))
	}
	for i, t := range p.Params {
		if len(values[i]) != t.Size {
			return fmt.Errorf("%s: %q has %d values, the program %d", what, t.Name, len(values[i]), t.Size)
		}
	}
	return nil
}

func copyAll(dst, src [][]float32) {
	for i := range dst {
		copy(dst[i], src[i])
	}
}

func clone(src [][]float32) [][]float32 {
	if src == nil {
		return nil
	}
	out := zerosLike(src)
	copyAll(out, src)
	return out
}

func zerosLike(src [][]float32) [][]float32 {
	out := make([][]float32, len(src))
	for i := range src {
		out[i] = make([]float32, len(src[i]))
	}
	return out
}
