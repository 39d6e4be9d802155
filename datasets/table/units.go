package table

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Units assigns each row of a file to its unit, such as a person. Its fields are private statistics of a private file.
// A unit is the text of its cells, without the blanks around it, or a number in formats that have numbers.
type Units struct {
	Of     []int32  // the unit of each row, an index of Values
	Values []string // the units
}

// exactNumbers is the largest magnitude of a unit's number. Numbers are read in double precision, which merges whole
// numbers of 2^53 and above. Two persons would be one unit, and removing one could change which rows of the other are
// kept.
const exactNumbers = 1<<53 - 1

// Units reads the column that names each row's unit. A missing column, a missing cell and a number that may not be
// exact are an [*Error], which quotes no cell.
func (f *File) Units(column string) (*Units, error) {
	u, known := &Units{}, map[string]int32{}
	err := f.pass(only(column), func(r rows) error {
		at, found := 0, false
		for _, x := range r.fields() {
			if x.name == column {
				if x.problem != "" {
					return &Error{Column: column, Problem: x.problem}
				}
				if x.width() != 1 {
					return &Error{Column: column, Problem: "a row has several values; the column of units has one"}
				}
				found = true
				break
			}
			at += x.width()
		}
		if !found {
			return problemf("no column %q, which says whose a row is; name another one by --unit", column)
		}
		if err := each(r, column, func(cells []cell) error {
			if cells[at].missing() {
				return problemf("it is missing (empty, NaN, NA or the like), so nothing says whose the row is; fill it in, or leave the row out")
			}
			if cells[at].kind == number && !(math.Abs(cells[at].number) <= exactNumbers) {
				return problemf("a number beyond 2^53, where different units can have the same one in double precision; save the column as text")
			}
			value := cells[at].String()
			i, ok := known[value]
			if !ok {
				i = int32(len(u.Values))
				known[value] = i
				u.Values = append(u.Values, value)
			}
			u.Of = append(u.Of, i)
			return nil
		}); err != nil {
			return err
		}
		return checkCount(len(u.Of))
	})
	if err != nil {
		return nil, err
	}
	return u, nil
}

func only(column string) func(string) bool { return func(name string) bool { return name == column } }

// Has reports whether the file has a column of the given name.
func (f *File) Has(column string) (has bool, err error) {
	err = f.pass(only(column), func(r rows) error {
		has = slices.ContainsFunc(r.fields(), func(x field) bool { return x.name == column })
		return nil
	})
	return has, err
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

// checkUnit returns an [*OptionError] for a column of units that has another use as well.
func (o Options) checkUnit() error {
	if o.Unit != "" && (o.Unit == o.Label || o.Categories[o.Unit] != nil) {
		return optionf("unit", "%s", fmt.Sprintf("%s is learned from; name the column that says whose a row is", o.Unit))
	}
	return nil
}
