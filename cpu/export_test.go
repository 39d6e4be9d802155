package cpu

import (
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/enginetest"
)

func init() { leastWork = 1 } // all workers take part in any step

// Inspect shows package enginetest the sums that never leave a run.
func Inspect(runs engine.Runs) enginetest.Inspector { return inspector{runs.(*group)} }

type inspector struct{ *group }

func (i inspector) ClippedSum(run int, samples []int32) (sum, squaredNorms []float64, err error) {
	defer guard(&err)
	r := i.runs[run]
	c, _ := i.team.borrow(len(samples), 0)
	defer i.team.giveBack(c)
	if err := r.clippedSum(c, samples); err != nil {
		return nil, nil, err
	}
	sum = make([]float64, i.layout.Size)
	c.total(0, sum)
	for j := range sum {
		sum[j] *= r.grid.Fine
	}
	c.forget()
	return sum, append([]float64(nil), r.norms...), nil
}
