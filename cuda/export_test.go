package cuda

import (
	"slices"

	"github.com/dptrain/dptrain/cuda/internal/driver"
	"github.com/dptrain/dptrain/cuda/internal/kernel"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/enginetest"
)

// inspect lets package enginetest see the sums that never leave a run.
func inspect(runs engine.Runs) enginetest.Inspector { return inspector{runs.(*group)} }

type inspector struct{ *group }

// ClippedSum puts the samples where a minibatch would be, and takes the sum from where the update would.
func (i inspector) ClippedSum(run int, samples []int32) (sum, squaredNorms []float64, err error) {
	p, run := i.find(run)
	step, m := p.step, p.step.minibatches
	size := int(m.Size)
	units := make([]int64, size)
	var done []int // dropout draws by the step, and updates that tests launch go on
	for i := range p.done {
		done = append(done, int(p.done[i].Load()))
	}
	squaredNorms = make([]float64, len(samples))
	for _, do := range []func() error{
		func() error { return driver.Upload(p.device, m.Batches, 0, samples) },
		func() error { return driver.Upload(p.device, m.Sizes, 0, []int32{int32(len(samples))}) },
		func() error { return step.setClocks(done, slices.Repeat([]int{1 << 30}, len(p.jobs))) },
		func() error { return step.clippedSums(wave{run, 1}, 0, 0) },
		func() error { return driver.Download(p.device, units, m.Sums, run*size) },
		func() error { return p.device.Clear(m.Sums, 8*run*size, 8*size) },
		func() error { return driver.Download(p.device, squaredNorms, m.Norms, 0) },
	} {
		if err := do(); err != nil {
			return nil, nil, err
		}
	}
	var fine [1]float64
	if err := driver.Download(p.device, fine[:], m.Settings, run*kernel.SettingColumns+kernel.SettingFine); err != nil {
		return nil, nil, err
	}
	for _, u := range units {
		sum = append(sum, float64(u)*fine[0])
	}
	return sum, squaredNorms, nil
}
