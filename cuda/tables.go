package cuda

import (
	"encoding/binary"

	"github.com/dptrain/dptrain/internal/engine"
)

// The numbers of columns in the kernels' tables of runs: see run.cuh.
const (
	clockColumns    = 3
	settingColumns  = 9
	identityColumns = 13
)

// drawThreads is the number of threads that draw a run's minibatch: see draw.cu.
const drawThreads = 256

// identityOf returns a run's row in the kernels' table of words: see run.cuh.
func identityOf(j engine.Job) []uint32 {
	row := make([]uint32, 0, 13)
	for i := range 8 {
		row = append(row, binary.LittleEndian.Uint32(j.Key[4*i:]))
	}
	row = append(row, j.Trial)
	p, all := j.Mechanism.SamplingProbability, uint32(0)
	threshold := uint64(0)
	if p == 1 {
		all = 1
	} else {
		threshold = uint64(p * 0x1p64)
	}
	row = append(row, uint32(threshold), uint32(threshold>>32), all)
	adam := uint32(0)
	if j.Optimizer.Method == engine.Adam {
		adam = 1
	}
	return append(row, adam)
}

// settingsOf returns a run's row in the kernels' table of numbers: see run.cuh.
func settingsOf(j engine.Job, samples int) []float64 {
	m, o, g := j.Mechanism, j.Optimizer, j.Mechanism.Grid(samples)
	return []float64{g.Fine, g.Coarse, m.NoiseDeviation(), m.ExpectedBatchSize, o.LearningRate, o.Beta1, o.Beta2, o.Epsilon, m.ClipTo()}
}

// occupied returns a bit for each coordinate of the layout: 0 for padding.
func occupied(l engine.Layout) []uint32 {
	bits := make([]uint32, (l.Size+31)/32)
	for i, from := range l.Offsets {
		for j := from; j < from+l.Lengths[i]; j++ {
			bits[j/32] |= 1 << (j % 32)
		}
	}
	return bits
}
