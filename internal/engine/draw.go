package engine

import "github.com/dptrain/dptrain/internal/random"

// Minibatch appends to dst the members that take part in the step after the given number of steps, ascending: member k
// of the list is in if word k of the step's minibatch stream says so ([random.Stream.Bernoulli]). members is the job's
// list, or all samples where the job has none.
func (j *Job) Minibatch(step int, members, dst []int32) []int32 {
	return j.stream(random.Minibatch, step).Bernoulli(j.Mechanism.SamplingProbability, members, dst)
}

// Normals fills dst with the standard normals of the noise of the step after the given number of steps, for the
// coordinates from the given one on, by [Layout]. from is even; normal i comes from words i and its neighbour
// ([random.Stream.Normals]).
func (j *Job) Normals(step, from int, dst []float64) {
	s := j.stream(random.Noise, step)
	s.Seek(uint64(from))
	s.Normals(dst)
}

func (j *Job) stream(p random.Purpose, step int) *random.Stream {
	return j.Key.Stream(random.ID{Purpose: p, Trial: j.Trial, Step: uint32(step)})
}
