package engine

import (
	"math/bits"
	"sort"
)

// MostInChunk is the largest number of samples whose clipped gradients may be added in single precision before the sum
// is rounded to the grid. Each engine has a bound for each program, up to this one, that depends neither on data nor on
// batch or memory.
const MostInChunk = 64

// Chunks divides an ascending batch into chunks of at most maximum samples: chunk k is batch[cuts[k]:cuts[k+1]]. It
// appends the cuts to cuts and returns the result. For an empty batch it appends only 0.
//
// Consider a binary tree over the indices of the data set, from 0 up to some power of two, whose nodes are the ranges
// [a·2ˡ, (a+1)·2ˡ). A chunk is the set of the batch's samples in a node with at most maximum of them whose parent has
// more than maximum. So one sample more or less changes only chunks on its own path. Two neighbours p < q of the batch
// are in different chunks if the smallest node with both, of level l = the bit length of p xor q, has more than maximum
// samples. Prefix sums of the batch over the indices thus give every cut independently of the others.
func Chunks(batch []int32, maximum int, cuts []int) []int {
	cuts = append(cuts, 0)
	if len(batch) == 0 {
		return cuts
	}
	level := bits.Len32(uint32(batch[0]) ^ uint32(batch[len(batch)-1]))
	return chunks(batch, 0, maximum, level, cuts)
}

// chunks appends the ends of the chunks of a node of the given level, whose first sample is batch[from].
func chunks(node []int32, from, maximum, level int, cuts []int) []int {
	if len(node) == 0 {
		return cuts
	}
	if len(node) <= maximum {
		return append(cuts, from+len(node))
	}
	half := node[0]>>level<<level | 1<<(level-1) // the first index of the node's second child
	n := sort.Search(len(node), func(i int) bool { return node[i] >= half })
	cuts = chunks(node[:n], from, maximum, level-1, cuts)
	return chunks(node[n:], from+n, maximum, level-1, cuts)
}
