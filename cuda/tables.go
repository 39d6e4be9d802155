package cuda

import (
	"encoding/binary"

	"github.com/dptrain/dptrain/cuda/internal/kernel"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/random"
)

// identityOf returns a run's row in the kernels' table of identities.
func identityOf(j engine.Job) []uint32 {
	row := make([]uint32, kernel.IdentityColumns)
	for i := range 8 {
		row[kernel.IdentityKey+i] = binary.LittleEndian.Uint32(j.Key[4*i:])
	}
	row[kernel.IdentityTrial] = j.Trial
	sampler := random.SamplerOf(j.Mechanism.SamplingProbability)
	row[kernel.IdentityShift], row[kernel.IdentityCounts] = uint32(sampler.Shift), uint32(len(sampler.Below))
	for c, b := range sampler.Below {
		row := row[kernel.IdentityBelow+4*c:]
		row[0], row[1], row[2], row[3] = uint32(b[1]), uint32(b[1]>>32), uint32(b[0]), uint32(b[0]>>32)
	}
	if j.Optimizer.Method == engine.Adam {
		row[kernel.IdentityAdam] = 1
	}
	return row
}

// settingsOf returns a run's row in the kernels' table of settings, for a layout of the given size.
func settingsOf(j engine.Job, samples, size int) []float64 {
	m, o, g := j.Mechanism, j.Optimizer, j.Mechanism.Grid(samples)
	row := make([]float64, kernel.SettingColumns)
	row[kernel.SettingFine], row[kernel.SettingCoarse], row[kernel.SettingClip] = g.Fine, g.Coarse, m.ClipTo(g, size)
	if m.Automatic {
		row[kernel.SettingStability] = engine.Stability
	}
	row[kernel.SettingDeviation], row[kernel.SettingDivisor] = m.NoiseDeviation(), m.ExpectedBatchSize
	row[kernel.SettingRate], row[kernel.SettingEpsilon] = o.LearningRate, o.Epsilon
	row[kernel.SettingBeta1], row[kernel.SettingBeta2] = o.Beta1, o.Beta2
	if j.Move != nil {
		row[kernel.SettingRate] = releaseRate
	}
	return row
}

// occupied returns a bit for each coordinate of the layout, 0 for padding.
func occupied(l engine.Layout) []uint32 {
	bits := make([]uint32, (l.Size+31)/32)
	for i, from := range l.Offsets {
		for j := from; j < from+l.Lengths[i]; j++ {
			bits[j/32] |= 1 << (j % 32)
		}
	}
	return bits
}
