package engine

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// anyBatch draws an ascending batch, often crowded, from data of up to 2³¹-1 samples.
func anyBatch(t *rapid.T) []int32 {
	samples := rapid.SampledFrom([]int32{1, 2, 7, 64, 65, 300, 4096, math.MaxInt32}).Draw(t, "samples")
	batch := rapid.SliceOfNDistinct(rapid.Int32Range(0, samples-1), 0, int(min(samples, 300)), rapid.ID[int32]).Draw(t, "batch")
	if rapid.Bool().Draw(t, "with a run") {
		from := rapid.Int32Range(0, samples-1).Draw(t, "from")
		for i := range min(samples-from, rapid.Int32Range(0, 300).Draw(t, "length")) {
			batch = append(batch, from+i)
		}
	}
	slices.Sort(batch)
	return slices.Compact(batch)
}

// held counts a batch's samples in the node of a level that holds an index.
func held(batch []int32, index int32, level int) int {
	n := 0
	for _, p := range batch {
		if p>>level == index>>level {
			n++
		}
	}
	return n
}

// node is a range of indices.
type node struct {
	level int
	first int32 // its first index over 2^level
}

// chunkOf returns a sample's chunk by the definition: the largest node around it that holds at most maximum samples.
func chunkOf(batch []int32, index int32, maximum int) node {
	for level := 31; ; level-- {
		if held(batch, index, level) <= maximum {
			return node{level, index >> level}
		}
	}
}

func TestChunksAreTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		batch, maximum := anyBatch(t), rapid.IntRange(1, MostInChunk).Draw(t, "maximum")
		cuts := Chunks(batch, maximum, nil)
		if cuts[0] != 0 || cuts[len(cuts)-1] != len(batch) {
			t.Fatalf("cuts %v of %d samples", cuts, len(batch))
		}
		for k := 1; k < len(cuts); k++ {
			if n := cuts[k] - cuts[k-1]; n < 1 || n > maximum {
				t.Fatalf("a chunk of %d samples, at most %d are allowed", n, maximum)
			}
		}
		for i := 1; i < len(batch); i++ {
			border := slices.Contains(cuts, i)
			if want := chunkOf(batch, batch[i-1], maximum) != chunkOf(batch, batch[i], maximum); border != want {
				t.Fatalf("between indices %d and %d: border is %v, want %v", batch[i-1], batch[i], border, want)
			}
			// A thread of a GPU asks: does the smallest node with both have more than maximum samples?
			level := 0
			for batch[i-1]>>level != batch[i]>>level {
				level++
			}
			if want := held(batch, batch[i], level) > maximum; border != want {
				t.Fatalf("between indices %d and %d: border is %v, by counts %v", batch[i-1], batch[i], border, want)
			}
		}
	})
}

// A further sample changes at most one chunk, into chunks of that chunk's samples and itself.
func TestASampleTouchesItsOwnPath(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		with, maximum := anyBatch(t), rapid.IntRange(1, MostInChunk).Draw(t, "maximum")
		if len(with) == 0 {
			return
		}
		x := rapid.IntRange(0, len(with)-1).Draw(t, "x")
		without := slices.Delete(slices.Clone(with), x, x+1)
		members := func(batch []int32) [][]int32 {
			var out [][]int32
			cuts := Chunks(batch, maximum, nil)
			for k := 1; k < len(cuts); k++ {
				out = append(out, batch[cuts[k-1]:cuts[k]])
			}
			return out
		}
		a, b := members(with), members(without)
		only := func(a, b [][]int32) (rest [][]int32) {
			for _, c := range a {
				if !slices.ContainsFunc(b, func(d []int32) bool { return slices.Equal(c, d) }) {
					rest = append(rest, c)
				}
			}
			return rest
		}
		added, gone := only(a, b), only(b, a)
		if len(gone) > 1 {
			t.Fatalf("index %d more ends chunks %v", with[x], gone)
		}
		left := slices.Concat(added...)
		slices.Sort(left)
		want := append(slices.Concat(gone...), with[x])
		slices.Sort(want)
		if !slices.Equal(left, want) {
			t.Fatalf("index %d turns chunks %v into %v", with[x], gone, added)
		}
	})
}

func TestChunksOfNothingAndOfEverything(t *testing.T) {
	if cuts := Chunks(nil, 64, nil); !slices.Equal(cuts, []int{0}) {
		t.Errorf("an empty batch is cut at %v", cuts)
	}
	all := make([]int32, 1000)
	for i := range all {
		all[i] = int32(i)
	}
	want := []int{0}
	for at := 64; at < 1000; at += 64 {
		want = append(want, at)
	}
	want = append(want, 1000)
	if cuts := Chunks(all, 64, nil); !slices.Equal(cuts, want) {
		t.Errorf("all of 1000 indices are cut at %v", cuts)
	}
	if cuts := Chunks([]int32{0, math.MaxInt32}, 1, []int{9}); !slices.Equal(cuts, []int{9, 0, 1, 2}) {
		t.Errorf("the ends of the range are cut at %v", cuts)
	}
}
