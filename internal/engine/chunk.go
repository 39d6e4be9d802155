package engine

import (
	"math/bits"
	"sort"
)

// MostInChunk bounds the samples whose clipped gradients are added in single precision before the sum is put on the
// grid. Every engine has a bound of its own, up to this one, for each program, which data, batch and memory don't
// change.
const MostInChunk = 64

// Chunks divides a batch, which is ascending, into chunks of at most most samples: chunk k is batch[cuts[k]:cuts[k+1]].
// It appends the cuts to the slice it is given; of an empty batch it makes the one cut 0.
//
// Think of a binary tree over the places of the data set, 0 up to some power of two, whose nodes are the ranges
// [a·2ˡ, (a+1)·2ˡ). A chunk is what a node holds of the batch, if that is at most most and its parent's is more. So a
// sample that comes or goes touches chunks on its own path only. Two neighbours p < q of the batch are in different
// chunks if the smallest node that holds both, the one of level l = the length of p xor q in bits, holds more than
// most: with the batch's prefix sums over the places, every border is found by itself.
func Chunks(batch []int32, most int, cuts []int) []int {
	cuts = append(cuts, 0)
	if len(batch) == 0 {
		return cuts
	}
	level := bits.Len32(uint32(batch[0]) ^ uint32(batch[len(batch)-1]))
	return chunks(batch, 0, most, level, cuts)
}

// chunks appends the ends of the chunks of a node of the given level, whose samples begin at the batch's index from.
func chunks(node []int32, from, most, level int, cuts []int) []int {
	if len(node) == 0 {
		return cuts
	}
	if len(node) <= most {
		return append(cuts, from+len(node))
	}
	half := node[0]>>level<<level | 1<<(level-1) // where the node's second child begins
	n := sort.Search(len(node), func(i int) bool { return node[i] >= half })
	cuts = chunks(node[:n], from, most, level-1, cuts)
	return chunks(node[n:], from+n, most, level-1, cuts)
}
