package walk

import (
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/cuda/internal/driver"
	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
)

// columns is samples on a device, column after column. The columns of equals follow the integers' columns.
type columns struct{ floats, integers driver.Pointer }

// upload copies samples [from, to). A column that is missing keeps its space. Gradients also need the columns of
// equals.
func (l *Program) upload(m *driver.Memory, data *engine.Data, from, to int, gradients bool) (at columns, err error) {
	n, integers := to-from, l.given
	if gradients {
		integers = l.integers
	}
	if at.floats, err = m.Alloc(4 * n * l.floats); err == nil {
		at.integers, err = m.Alloc(4 * n * integers)
	}
	if err != nil {
		return at, fmt.Errorf("%d samples of %d values: %w", n, l.floats+integers, err)
	}
	for k, in := range l.Inputs {
		column := data.Columns[k]
		switch {
		case n == 0 || column.Len() == 0:
		case in.Type == compile.Int32:
			ids := column.Ints[from*in.Size : to*in.Size]
			err = driver.Upload(m.Device, at.integers, l.columns[k]*n, ids)
			if before := l.equals[k]; err == nil && gradients && before >= 0 {
				err = driver.Upload(m.Device, at.integers, before*n, equals(ids, in.Size))
			}
		default:
			err = driver.Upload(m.Device, at.floats, l.columns[k]*n, column.Floats[from*in.Size:to*in.Size])
		}
		if err != nil {
			return at, err
		}
	}
	return at, nil
}

// equals returns two columns for samples of each integers, none of them negative. The first lists a sample's positions,
// grouped by their integer and ascending within a group; the second has the size of a group at its first entry, and 0
// at the others.
func equals(ids []int32, each int) []int32 {
	out := make([]int32, 2*len(ids))
	positions, counts := out[:len(ids)], out[len(ids):]
	sorted := make([]int64, each) // integer, then position
	for from := 0; from < len(ids); from += each {
		for i, id := range ids[from : from+each] {
			sorted[i] = int64(id)<<32 | int64(i)
		}
		slices.Sort(sorted)
		first := from
		for i, v := range sorted {
			positions[from+i] = int32(v)
			if i > 0 && v>>32 != sorted[i-1]>>32 {
				first = from + i
			}
			counts[first]++
		}
	}
	return out
}
