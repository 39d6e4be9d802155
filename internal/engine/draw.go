package engine

import (
	"math"

	"github.com/dptrain/dptrain/internal/random"
)

// Minibatch appends to dst, in ascending order, the members that take part in a step. Word k of the step's minibatch
// stream decides on member k ([random.Stream.Bernoulli]). Steps count from 0. members is the job's list, or all samples
// if the job has none.
func (j *Job) Minibatch(step int, members, dst []int32) []int32 {
	return j.Key.Stream(j.id(random.Minibatch, step)).Bernoulli(j.Mechanism.SamplingProbability, members, dst)
}

// Normals fills dst with step's standard normals, for coordinates from, from+1, … of the parameter vector ([Layout]).
// Steps count from 0, and from is even. Normal i comes from word i and its neighbour ([random.Stream.Normals]).
func (j *Job) Normals(step, from int, dst []float64) {
	s := j.Noise(step)
	s.Seek(uint64(from))
	s.Normals(dst)
}

// Noise returns the stream of step's normals, for a caller that draws them in parts. First seek the first coordinate,
// which is even. All parts but the last have an even length.
func (j *Job) Noise(step int) *random.Stream { return j.Key.Stream(j.id(random.Noise, step)) }

// Dropout returns the stream that decides which elements [compile.Dropout] keeps in a step. Steps count from 0. Draw d
// of a sample, given by its number in the data, is half of word (sample·draws + d)/2, the low half if d is even; draws
// is the program's. An element is kept if its draw, as an unsigned number, is below [KeepBelow]. A sample's draws don't
// depend on the other samples of the minibatch: adding or removing a sample changes no other's gradient.
func (j *Job) Dropout(step, draws, sample int) *random.Stream {
	s := j.Key.Stream(j.id(random.Dropout, step))
	s.Seek(uint64(sample) * uint64(draws) / 2)
	return s
}

// KeepBelow returns the number below which a draw of 32 bits keeps an element with probability keep, in (0, 1].
func KeepBelow(keep float32) uint64 { return uint64(math.Ceil(float64(keep) * (1 << 32))) }

func (j *Job) id(p random.Purpose, step int) random.ID {
	return random.ID{Purpose: p, Trial: j.Trial, Step: uint32(step)}
}
