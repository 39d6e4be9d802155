package sketch

import (
	"cmp"
	"container/heap"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
)

// Size is the maximum number of different rows that a sketch keeps.
const Size = 8192

// A Sketch is a sample of the rows of a set, by their hashes. The zero value is the sketch of no rows. Sketches are
// immutable.
type Sketch struct {
	rows    int
	hashes  []uint64       // of the kept rows, ascending
	counts  []int          // the number of rows with each of them
	columns [][buckets]int // counts by [Columns]; none in old files
}

// Rows returns the number of rows of the set.
func (s Sketch) Rows() int { return s.rows }

// Columns returns the number of counts by [Columns], 0 in old files.
func (s Sketch) Columns() int { return len(s.columns) }

// ID returns a hash that equal sketches have.
func (s Sketch) ID() string {
	h := fnv.New64a()
	fmt.Fprint(h, s.rows, s.hashes, s.counts)
	return fmt.Sprintf("%x", h.Sum64())
}

// Equal reports whether two sketches are the same, but for columns, which old ones lack.
func (s Sketch) Equal(o Sketch) bool {
	return s.rows == o.rows && slices.Equal(s.hashes, o.hashes) && slices.Equal(s.counts, o.counts)
}

// last returns the largest hash h such that the sketch has all rows of its set with hashes up to h.
func (s Sketch) last() uint64 {
	if len(s.hashes) < Size {
		return 1<<64 - 1
	}
	return s.hashes[len(s.hashes)-1]
}

// Share estimates the share of the smaller set's rows that the larger set has too, in [0, 1]. A row counts as often as
// its set has it, and is shared as often as both sets have it. Rows that are equal by chance count too, as in tables of
// few columns with few values.
//
// Share is exact for sets of at most [Size] different rows. Otherwise it compares the rows whose hashes are among the
// smallest of both sets: all 8192 that are kept, for sets of the same size, and about 8192/r of the smaller set if the
// larger one has r times as many rows. Of m compared rows the number that are shared varies by about the square root of
// its mean. For a true share of 5 %, Share is at least 2.5 % with a probability of 99.9 % and more up to r = 10, about
// 99 % at r = 20, and about 80 % at r = 100. A set that is wholly contained in another one is found with a probability
// of 99.9 % up to r = 1000. An even smaller set may have no row to compare: Share is then 0.
//
// These probabilities are for sets in which no single row makes up much. The copies of a row are compared together or
// not at all: for two larger sets that share only one row, with any number of copies, Share is mostly 0.
func (s Sketch) Share(o Sketch) float64 {
	last := min(s.last(), o.last())
	ofS, ofO, shared := 0, 0, 0 // rows up to last
	for i, j := 0, 0; ; {
		moreS, moreO := i < len(s.hashes) && s.hashes[i] <= last, j < len(o.hashes) && o.hashes[j] <= last
		switch {
		case !moreS && !moreO:
			if min(ofS, ofO) == 0 {
				return 0
			}
			return float64(shared) / float64(min(ofS, ofO))
		case moreS && moreO && s.hashes[i] == o.hashes[j]:
			ofS, ofO, shared = ofS+s.counts[i], ofO+o.counts[j], shared+min(s.counts[i], o.counts[j])
			i, j = i+1, j+1
		case moreS && (!moreO || s.hashes[i] < o.hashes[j]):
			ofS += s.counts[i]
			i++
		default:
			ofO += o.counts[j]
			j++
		}
	}
}

// A Builder makes a sketch in memory for [Size] hashes, for any number of rows. Its zero value has no rows.
type Builder struct {
	size   int // the maximum number of hashes; 0 means Size
	rows   int
	counts map[uint64]int
	kept   largestFirst
}

// Add adds a row by its hash.
func (b *Builder) Add(hash uint64) {
	b.rows++
	full := len(b.kept) == cmp.Or(b.size, Size)
	if full && hash > b.kept[0] {
		return
	}
	if b.counts == nil {
		b.counts = make(map[uint64]int)
	}
	b.counts[hash]++
	if b.counts[hash] > 1 {
		return
	}
	// A hash that leaves never comes back, since the largest one only falls. So all counts are complete.
	if full {
		delete(b.counts, b.kept[0])
		b.kept[0] = hash
		heap.Fix(&b.kept, 0)
		return
	}
	heap.Push(&b.kept, hash)
}

// Sketch returns the sketch of the rows so far.
func (b *Builder) Sketch() Sketch {
	s := Sketch{rows: b.rows, hashes: slices.Sorted(maps.Keys(b.counts))}
	for _, h := range s.hashes {
		s.counts = append(s.counts, b.counts[h])
	}
	return s
}

// largestFirst is a heap.
type largestFirst []uint64

func (h largestFirst) Len() int           { return len(h) }
func (h largestFirst) Less(i, j int) bool { return h[i] > h[j] }
func (h largestFirst) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *largestFirst) Push(x any)        { *h = append(*h, x.(uint64)) }
func (h *largestFirst) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}
