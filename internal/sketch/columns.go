package sketch

import (
	"math"
	"slices"
)

const (
	buckets = 256
	looked  = 128 // different values by which a column is judged to be a design
	paired  = 16  // columns of which all pairs count too
	useful  = 20  // buckets with rows, without which nothing is surprising
	kept    = 64  // counts in a sketch
)

// Columns counts a file's rows in buckets of hashes: by each column's value, and by those of each two of the first 16.
// Its zero value has no rows.
type Columns struct {
	counts []*count
	seen   []Builder // of each column
	random []bool    // whether values that no two rows share don't number them
}

type count struct {
	of   [2]int // columns, twice the same for one
	rows [3][buckets]int
}

// Value is a column's value in a row.
type Value struct {
	Hashes [3]uint64 // of the value, the value to two digits, and to a whole number
	Number bool      // whether values like it may number rows: whole numbers, dates and ids
}

// Add adds a row. All rows have equally many values.
func (c *Columns) Add(row []Value) {
	if c.seen == nil {
		c.seen, c.random = slices.Repeat([]Builder{{size: looked}}, len(row)), make([]bool, len(row))
		for i := range row {
			c.counts = append(c.counts, &count{of: [2]int{i, i}})
		}
		for i := range min(len(row), paired) {
			for j := range i {
				c.counts = append(c.counts, &count{of: [2]int{i, j}})
			}
		}
	}
	for i, v := range row {
		c.seen[i].Add(v.Hashes[0])
		c.random[i] = c.random[i] || !v.Number
	}
	for _, n := range c.counts {
		for k := range n.rows {
			n.rows[k][(row[n.of[0]].Hashes[k]+row[n.of[1]].Hashes[k])>>56]++
		}
	}
}

// designed reports whether a column says nothing of its rows, as their numbers or the hours of a record: all values
// come about equally often, in any file. Chance varies by about the square root of their number at least.
func (c *Columns) designed(i int) bool {
	counts := c.seen[i].Sketch().counts
	most := slices.Max(counts)
	spread := most - slices.Min(counts)
	return 2*spread*spread < most && (most > 1 || !c.random[i])
}

// With returns a sketch that recognises rows by their columns too. It keeps the first 64 counts that tell something.
func (s Sketch) With(c *Columns) Sketch {
	for _, n := range c.counts {
		if len(s.columns) >= kept || c.designed(n.of[0]) || c.designed(n.of[1]) {
			continue
		}
		for _, rows := range n.rows {
			empty := 0
			for _, n := range rows {
				empty += max(0, 1-n)
			}
			if buckets-empty >= useful && !slices.Contains(s.columns, rows) {
				s.columns = append(s.columns, rows)
			}
		}
	}
	return s
}

// surprising is the number of standard deviations by which two counts must be more alike than those of different rows.
const surprising = 5

// Alike reports whether two sets seem to have many rows in common by a column or two, whatever their names and whatever
// became of the others.
//
// If the rows are different ones, though of one population, each row of a bucket is in the first set with the same
// probability p. So the first set's count is binomial, and its squared deviation has mean 1 in units of the variance,
// however many rows have a value. Counts of the same rows deviate less, by a factor 1-f for sets of one size that share
// a fraction f, and (1-f)/(1+f) for a set and a fraction f of it. The sum over buckets tells the two apart if there are
// 50 different values, or 25 that hardly come twice. No bucket adds more than four standard deviations, which chance
// does in one of 100, so that a value that became another one, as missing ones that were filled in, doesn't outweigh
// all others.
func (s Sketch) Alike(o Sketch) bool {
	p := float64(s.rows) / float64(s.rows+o.rows)
	for _, a := range s.columns {
		for _, b := range o.columns {
			excess, variance := 0.0, 0.0
			for i, n := range a {
				if both := float64(n + b[i]); both > 0 {
					unit, deviation := both*p*(1-p), float64(n)-both*p
					spread := 2 + (1-6*p*(1-p))/unit
					excess += min(deviation*deviation/unit-1, 4*math.Sqrt(spread))
					variance += spread
				}
			}
			if excess < -surprising*math.Sqrt(variance) {
				return true
			}
		}
	}
	return false
}
