package cpu

import (
	"github.com/dptrain/dptrain/cpu/internal/kernel"
	"github.com/dptrain/dptrain/internal/engine"
)

// chunkSum is one chunk's clipped sum. Samples touch few rows of a table, so that those are listed: a pass over the
// whole table for each chunk would take longer than all else.
type chunkSum struct {
	floats []float32   // laid out by [engine.Layout]; 0 where nothing was added since clear
	parts  [][]float32 // by parameter
	dense  []span      // all parameters but tables
	tables []*tableSum // by parameter; nil for all others
}

// tableSum lists the rows of a table that a chunk has touched.
type tableSum struct {
	from, width int
	touched     []int32 // each row once
	listed      []bool  // by row
}

// newChunkSum returns an empty sum. widths has the row length of each parameter that is a table, and 0 for all others.
func newChunkSum(l engine.Layout, widths []int) *chunkSum {
	c := &chunkSum{floats: make([]float32, l.Size), tables: make([]*tableSum, len(l.Offsets))}
	c.parts = l.Split(c.floats)
	for i, from := range l.Offsets {
		last := len(c.dense) - 1
		switch end := from + l.Lengths[i]; {
		case i < len(widths) && widths[i] > 0:
			c.tables[i] = &tableSum{from: from, width: widths[i], listed: make([]bool, l.Lengths[i]/widths[i])}
		case i > 0 && c.tables[i-1] == nil: // the padding between two parameters is 0 and may be added too
			c.dense[last].to = end
		default:
			c.dense = append(c.dense, span{from, end})
		}
	}
	return c
}

// clear sets the sum to 0.
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

// addTo rounds the sum to the grid and adds it to acc. Rows that weren't touched add nothing.
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

// row returns the range of a row's coordinates in the layout.
func (t *tableSum) row(v int32) span {
	from := t.from + int(v)*t.width
	return span{from, from + t.width}
}

// touch lists a row, once.
func (t *tableSum) touch(v int32) {
	if !t.listed[v] {
		t.listed[v] = true
		t.touched = append(t.touched, v)
	}
}
