package table

import (
	"cmp"
	"math"
	"slices"
)

// Units assigns each row of a file to its unit, such as a person. Its fields are private statistics of a private file.
// A unit is the text of its cells, without the blanks around it, or a number in formats that have numbers.
type Units struct {
	Of     []int32  // the unit of each row, an index of Values
	Values []string // the units
}

// Units reads the column that names each row's unit. A missing column, a missing cell and a number that may not be
// exact are an [*Error], which quotes no cell.
func (f *File) Units(column string) (*Units, error) {
	u, known := &Units{}, map[string]int32{}
	err := f.column(column, func(c cell) error {
		if c.missing() {
			return problemf("it is missing (empty, NaN, NA or the like), so nothing says whose the row is; fill it in, or leave the row out")
		}
		if err := c.exact(); err != nil {
			return err
		}
		value := c.String()
		i, ok := known[value]
		if !ok {
			i = int32(len(u.Values))
			known[value] = i
			u.Values = append(u.Values, value)
		}
		u.Of = append(u.Of, i)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return u, nil
}

// exact returns an error for a number of 2^53 and above. Numbers are read in double precision, which merges such whole
// numbers. Two persons would be one unit, and removing one could change which rows of the other are kept.
func (c cell) exact() error {
	if c.kind == number && math.Abs(c.number) >= 1<<53 {
		return problemf("a number beyond 2^53, where different ones can be the same in double precision; save the column as text")
	}
	return nil
}

// Cells returns a column's cells as texts, without the blanks around them. A number of 2^53 and above in a file of
// numbers is an error.
func (f *File) Cells(column string) (cells []string, err error) {
	err = f.column(column, func(c cell) error {
		cells = append(f.unread(cells), c.String())
		return c.exact()
	})
	return f.unread(cells), err
}

// unread appends empty texts for the next rows that can't be read.
func (f *File) unread(cells []string) []string {
	for f.bad[len(cells)] != nil {
		cells = append(cells, "")
	}
	return cells
}

// Count returns the number of rows if at most most rows of each unit are kept.
func (u *Units) Count(most int) int {
	counts, kept := make([]int, len(u.Values)), 0
	for _, i := range u.Of {
		if counts[i]++; counts[i] <= most {
			kept++
		}
	}
	return kept
}

// Keep returns the positions of the kept rows, ascending: the rows of lowest rank in each unit, at most most of them.
// rank is a function of a unit's value and of a row's number among the unit's rows, from 0. So the kept rows of a unit
// don't depend on other units.
func (u *Units) Keep(most int, rank func(value string, row int) uint64) []int32 {
	of := make([][]int32, len(u.Values))
	for row, i := range u.Of {
		of[i] = append(of[i], int32(row))
	}
	var kept []int32
	for i, rows := range of {
		if len(rows) <= most {
			kept = append(kept, rows...)
			continue
		}
		type ranked struct {
			row  int32
			rank uint64
		}
		all := make([]ranked, len(rows))
		for j, row := range rows {
			all[j] = ranked{row, rank(u.Values[i], j)}
		}
		slices.SortFunc(all, func(a, b ranked) int { return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.row, b.row)) })
		for _, x := range all[:most] {
			kept = append(kept, x.row)
		}
	}
	slices.Sort(kept)
	return kept
}

// Shared returns the number of units that both files have. It is private.
func (u *Units) Shared(o *Units) int {
	mine, shared := indexOf(u.Values), 0
	for _, v := range o.Values {
		if _, ok := mine[v]; ok {
			shared++
		}
	}
	return shared
}

// Only returns a copy of the rows at the given positions. It shares the memory of texts.
func (s *Samples) Only(rows []int32) *Samples {
	width := len(s.Values) / s.N
	out := &Samples{N: len(rows), Values: make([]float32, 0, len(rows)*width)}
	for _, row := range rows {
		i := int(row)
		out.Values = append(out.Values, s.Values[i*width:(i+1)*width]...)
		if s.Texts != nil {
			out.Texts = append(out.Texts, s.Texts[i])
		}
		if s.Classes != nil {
			out.Classes = append(out.Classes, s.Classes[i])
		}
		if s.Numbers != nil {
			out.Numbers = append(out.Numbers, s.Numbers[i])
		}
	}
	return out
}

// leftOut returns the names of the columns that aren't learned from.
func (o Options) leftOut() []string {
	if o.Unit == "" {
		return o.Ignore
	}
	return append(slices.Clone(o.Ignore), o.Unit)
}
