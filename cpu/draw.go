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

// drawn is the range of an instruction's draws for each sample. Dropout's forward and backward instruction share it.
type drawn struct {
	draw, size int // draws draw, …, draw+size-1 of the sample
	at         int // the position of the first draw in a sample's words
}

// blocks returns the number of the generator's blocks that hold the draws.
func (d drawn) blocks() int { return (d.size + blockDraws - 1) / blockDraws }

// drawnBy returns the position of an instruction's draws in a sample's words.
func (l *lowered) drawnBy(in *compile.Instruction) int {
	d := drawn{in.Draw, in.Drawn(l.values[in.Out].Size), l.words}
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
	s := b.bound.job.GraphDraws(b.bound.step)
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

// random runs a Normals or Uniforms instruction for sample s.
func (b *microbatch) random(in *instruction, z []float32, s int) {
	if words := b.drawnWords[s*b.words+in.draws:]; in.Op == compile.Normals {
		normals(z, words)
	} else {
		uniforms(z, words)
	}
}

// normals sets z to standard normals, one from each word and its neighbour.
func normals(z []float32, words []uint64) {
	var piece [256]float64
	for from := 0; from < len(z); from += len(piece) {
		part := z[from:min(from+len(piece), len(z))]
		n := (len(part) + 1) &^ 1
		random.BoxMuller(piece[:n], words[from:from+n])
		for i := range part {
			part[i] = float32(piece[i])
		}
	}
}

// uniforms sets z to numbers in [0, 1), one from each half of a word.
func uniforms(z []float32, words []uint64) {
	for i := range z {
		z[i] = float32(uint32(words[i/2]>>(i%2*32))>>8) * 0x1p-24
	}
}
