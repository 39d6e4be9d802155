package cpu

import (
	"github.com/dptrain/dptrain/cpu/internal/kernel"
	"github.com/dptrain/dptrain/internal/engine"
)

// chunkSum is one chunk's clipped sum. Samples touch few rows of a table, so that those are listed: to go over the
// whole table for each chunk would take longer than all else.
type chunkSum struct {
	floats []float32   // laid out by [engine.Layout]; 0 where nothing was added since it was cleared
	parts  [][]float32 // by parameter
	dense  []span      // what isn't tables
	tables []*table    // by parameter; nil of one that isn't
}

// table is the rows of a table that a chunk has touched.
type table struct {
	from, width int
	touched     []int32 // each once
	listed      []bool  // by row
}

// newChunkSum makes room for sums of parameters of which some are tables, with rows of the given widths: 0 of all
// others.
func newChunkSum(l engine.Layout, widths []int) *chunkSum {
	c := &chunkSum{floats: make([]float32, l.Size), tables: make([]*table, len(l.Offsets))}
	c.parts = l.Split(c.floats)
	for i, from := range l.Offsets {
		last := len(c.dense) - 1
		switch end := from + l.Lengths[i]; {
		case i < len(widths) && widths[i] > 0:
			c.tables[i] = &table{from: from, width: widths[i], listed: make([]bool, l.Lengths[i]/widths[i])}
		case i > 0 && c.tables[i-1] == nil: // what is between two parameters is 0, and may be added too
			c.dense[last].to = end
		default:
			c.dense = append(c.dense, span{from, end})
		}
	}
	return c
}

// clear forgets what was added.
func (c *chunkSum) clear() {
	for _, s := range c.dense {
		clear(c.floats[s.from:s.to])
	}
	for _, t := range c.tables {
		if t == nil {
			continue
		}
		for _, v := range t.touched {
			s := t.row(v)
			clear(c.floats[s.from:s.to])
			t.listed[v] = false
		}
		t.touched = t.touched[:0]
	}
}

// addTo rounds the sum to a grid and adds it to acc. Of what wasn't touched that is nothing.
func (c *chunkSum) addTo(acc []float64, fine float64) {
	for _, s := range c.dense {
		kernel.AccumulateGrid(acc[s.from:s.to], c.floats[s.from:s.to], fine)
	}
	for _, t := range c.tables {
		if t == nil {
			continue
		}
		for _, v := range t.touched {
			s := t.row(v)
			kernel.AccumulateGrid(acc[s.from:s.to], c.floats[s.from:s.to], fine)
		}
	}
}

// row says where a row lies in the layout.
func (t *table) row(v int32) span {
	from := t.from + int(v)*t.width
	return span{from, from + t.width}
}

// touch lists a row.
func (t *table) touch(v int32) {
	if !t.listed[v] {
		t.listed[v] = true
		t.touched = append(t.touched, v)
	}
}
