package cuda

import (
	"github.com/dptrain/dptrain/cuda/internal/driver"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/enginetest"
)

// inspect lets package enginetest see the sums that never leave a run.
func inspect(runs engine.Runs) enginetest.Inspector { return inspector{runs.(*group)} }

type inspector struct{ *group }

// ClippedSum puts the samples where a minibatch would be, and takes the sum from where the update would.
func (i inspector) ClippedSum(run int, samples []int32) (sum, squaredNorms []float64, err error) {
	p, run := i.find(run)
	var cuts []int32
	for _, c := range engine.Chunks(samples, p.code.chunk, nil) {
		cuts = append(cuts, int32(c))
	}
	size := p.code.layout.Size
	units := make([]int64, size)
	squaredNorms = make([]float64, len(samples))
	for _, do := range []func() error{
		func() error { return driver.Upload(p.device, p.batches, 0, samples) },
		func() error { return driver.Upload(p.device, p.cuts, 0, cuts) },
		func() error {
			return driver.Upload(p.device, p.sizes, 0, []int32{int32(len(samples)), int32(len(cuts)) - 1})
		},
		func() error { return p.clippedSums(wave{run, 1}) },
		func() error { return driver.Download(p.device, units, p.totals, run*size) },
		func() error { return p.device.Clear(p.totals, 8*run*size, 8*size) },
		func() error { return driver.Download(p.device, squaredNorms, p.norms, 0) },
	} {
		if err := do(); err != nil {
			return nil, nil, err
		}
	}
	var fine [1]float64
	if err := driver.Download(p.device, fine[:], p.settings, run*settingColumns); err != nil {
		return nil, nil, err
	}
	for _, u := range units {
		sum = append(sum, float64(u)*fine[0])
	}
	return sum, squaredNorms, nil
}
