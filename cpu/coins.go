package cpu

import (
	"math"
	"math/bits"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
)

// Contributions of a sample to a sum of outer products are all rounded down or all up. If those of all samples were
// rounded down, their errors would add up. So each sample tosses a coin in each step. It is a function of the sample's
// values and of the step, so that what a sample contributes depends on nothing else.

// coinsOf returns a hash of each sample's values, from which its coins come.
func coinsOf(p *compile.Program, data *engine.Data, workers int) ([]uint32, error) {
	coins := make([]uint32, data.Samples)
	return coins, crewOf(workers).share(workers, func(_ *worker, k int) error {
		for s := k * data.Samples / workers; s < (k+1)*data.Samples/workers; s++ {
			h := uint32(1)
			for i, in := range p.Inputs {
				if c := data.Columns[i]; c.Ints != nil {
					for _, v := range c.Ints[s*in.Size:][:in.Size] {
						h = mixed(h, uint32(v))
					}
				} else {
					for _, v := range c.Floats[s*in.Size:][:in.Size] {
						h = mixed(h, math.Float32bits(v))
					}
				}
			}
			coins[s] = h
		}
		return nil
	})
}

// mixed adds a value to a hash. It turns first, since products carry differences upward alone.
func mixed(h, v uint32) uint32 { return bits.RotateLeft32(h^v, 13) * 0x9e3779b1 }

// roundsUp returns a sample's coin of a step.
func roundsUp(coin uint32, step int) bool {
	h := coin ^ uint32(step)*0x9e3779b1
	h = (h ^ h>>16) * 0x85ebca6b
	return (h^h>>13)*0xc2b2ae35>>31 != 0
}

// arrange puts the samples whose contributions are rounded down before the others, each with its index in part, and
// returns their number.
func (b *microbatch) arrange(part []int32) (down int) {
	b.samplesOf, b.indexOf = b.samplesOf[:len(part)], b.indexOf[:len(part)]
	up := len(part)
	for i, s := range part {
		at := down
		if roundsUp(b.bound.coins[s], b.bound.step) {
			up--
			at = up
		} else {
			down++
		}
		b.samplesOf[at], b.indexOf[at] = s, i
	}
	return down
}
