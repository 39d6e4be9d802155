package cpu

import (
	"slices"

	"github.com/dptrain/dptrain/cpu/internal/kernel"
	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/random"
)

// blockDraws is the number of a sample's draws in a block of the generator.
const blockDraws = 2 * random.BlockWords

const _ = uint(-(compile.DrawsMultiple % blockDraws)) // otherwise a sample's draws begin within a block

// drawn is the range of an instruction's draws for each sample. The forward and the backward instruction share it.
type drawn struct {
	draw, size int // draws draw, …, draw+size-1 of the sample
	at         int // the position of the first draw in a sample's words
}

// blocks returns the number of the generator's blocks that hold the draws.
func (d drawn) blocks() int { return (d.size + blockDraws - 1) / blockDraws }

// drawnBy returns the position of an instruction's draws in a sample's words.
func (l *lowered) drawnBy(in *compile.Instruction) int {
	d := drawn{in.Draw, l.values[in.Out].Size, l.words}
	if i := slices.IndexFunc(l.drawn, func(o drawn) bool { return o.draw == d.draw && o.size == d.size }); i >= 0 {
		return l.drawn[i].at
	}
	l.drawn = append(l.drawn, d)
	l.words += d.blocks() * random.BlockWords
	return d.at
}

// draw fills the microbatch's words with the draws of its samples, which are given by their numbers in the data.
func (b *microbatch) draw(samples []int32) {
	if b.words == 0 {
		return
	}
	b.blocks = b.blocks[:0]
	for _, s := range samples {
		for _, d := range b.drawn {
			first := (uint64(s)*uint64(b.Draws) + uint64(d.draw)) / blockDraws
			for k := range d.blocks() {
				b.blocks = append(b.blocks, uint32(first)+uint32(k))
			}
		}
	}
	s := b.bound.job.Dropout(b.bound.step)
	s.Blocks(b.drawnWords[:len(samples)*b.words], b.blocks)
}

// dropout runs a Dropout instruction for sample s.
func (b *microbatch) dropout(in *instruction, z, x []float32, s int) {
	words := b.drawnWords[s*b.words+in.draws:]
	maximum := uint32(engine.KeepBelow(in.Scalar) - 1)
	if in.Accumulate {
		kernel.AddDropout(z, x, words, maximum, in.Scalar)
	} else {
		kernel.Dropout(z, x, words, maximum, in.Scalar)
	}
}
