package cpu

import (
	"math"
	"slices"

	"github.com/dptrain/dptrain/cpu/internal/kernel"
	"github.com/dptrain/dptrain/internal/engine"
)

// sum is a worker's part of a step's clipped sum. Samples touch few rows of a table, so sum lists these rows: a pass
// over the whole table would take longer than all else.
type sum struct {
	fine   float64
	units  []int32      // of the samples since the last flush, in units of fine; laid out by [engine.Layout]
	parts  [][]int32    // units by parameter
	held   int          // the number of these samples, at most most
	most   int          // the number of samples whose sum int32 holds for certain
	before []float64    // of earlier samples, in units too; 0 unless flushed
	filled bool         // before isn't 0
	dense  []span       // all parameters except tables
	tables []*tableRows // by parameter; nil for all others
}

// tableRows lists the rows of a table that units holds.
type tableRows struct {
	from, width int
	touched     []int32 // each row once
	listed      []bool  // by row
}

// newSum returns an empty sum. widths has a table's row length, and 0 for other parameters.
func newSum(l engine.Layout, widths []int) *sum {
	s := &sum{units: make([]int32, l.Size), before: make([]float64, l.Size), tables: make([]*tableRows, len(l.Offsets))}
	for i, from := range l.Offsets {
		end := from + l.Lengths[i]
		s.parts = append(s.parts, s.units[from:end:end])
		last := len(s.dense) - 1
		switch {
		case i < len(widths) && widths[i] > 0:
			s.tables[i] = &tableRows{from: from, width: widths[i], listed: make([]bool, l.Lengths[i]/widths[i])}
		case i > 0 && s.tables[i-1] == nil: // the padding between two parameters is 0 and may be added too
			s.dense[last].to = end
		default:
			s.dense = append(s.dense, span{from, end})
		}
	}
	return s
}

// begin empties the sum, for a step on the given grid and with gradients clipped to the given norm.
func (s *sum) begin(fine, clip float64) {
	s.fine = fine
	// At least engine.MostInInt32, since no contribution is above 2²² fine. Package engine derives the margin of 2⁻¹⁷.
	s.most = int(math.MaxInt32 / (clip*(1+0x1p-17)/fine + 1))
	if s.held > 0 { // by a step that failed
		s.each(func(at span) { clear(s.units[at.from:at.to]) })
		s.forget()
	}
	if s.filled {
		clear(s.before)
		s.filled = false
	}
}

// reserve makes room for the contributions of n more samples, at most engine.MostInInt32.
func (s *sum) reserve(n int) {
	if s.held+n > s.most {
		s.flush()
	}
	s.held += n
}

// flush adds units to before, exactly, and clears them.
func (s *sum) flush() {
	s.filled = true
	s.each(func(at span) {
		units := s.units[at.from:at.to]
		kernel.AddUnits(s.before[at.from:at.to], units)
		clear(units)
	})
	s.forget()
}

// moveTo adds the sum in units, for coordinates from, from+1, …, to total exactly, and clears it. After the last
// coordinate, call forget.
func (s *sum) moveTo(total []float64, from int) {
	units := s.units[from:][:len(total)]
	kernel.AddUnits(total, units)
	clear(units) // while they are in the cache
	if s.filled {
		for j, v := range s.before[from:][:len(total)] {
			total[j] += v
		}
	}
}

// each calls f for all coordinates that may not be 0 in units.
func (s *sum) each(f func(span)) {
	for _, at := range s.dense {
		f(at)
	}
	for _, t := range s.tables {
		switch {
		case t == nil:
		case t.most():
			f(span{t.from, t.from + len(t.listed)*t.width})
		default:
			for _, v := range t.touched {
				from := t.from + int(v)*t.width
				f(span{from, from + t.width})
			}
		}
	}
}

// forget records that units is all 0.
func (s *sum) forget() {
	s.held = 0
	for _, t := range s.tables {
		switch {
		case t == nil:
			continue
		case t.most():
			clear(t.listed)
		default:
			for _, v := range t.touched {
				t.listed[v] = false
			}
		}
		t.touched = t.touched[:0]
	}
}

// most reports whether so many rows are touched that a pass over the whole table takes less time than over these rows.
func (t *tableRows) most() bool { return len(t.touched) > len(t.listed)/2 }

// touch lists the rows ids[k] for each k of at, each once.
func (t *tableRows) touch(ids, at []int32) {
	n := len(t.touched)
	t.touched = slices.Grow(t.touched, len(at))[:n+len(at)]
	// Write first and count afterwards: then there is no branch to mispredict.
	for _, k := range at {
		v := ids[k]
		t.touched[n] = v
		if !t.listed[v] {
			n++
		}
		t.listed[v] = true
	}
	t.touched = t.touched[:n]
}
