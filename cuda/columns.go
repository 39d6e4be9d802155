package cuda

import (
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/cuda/internal/driver"
	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
)

// columns are samples on a device, column after column: floating-point numbers, and integers with what the host says of them.
type columns struct{ floats, integers driver.Pointer }

// uploadData copies samples [from, to). A column that is missing keeps its room. Which of a sample's integers are equal is only told
// for gradients.
func uploadData(h *holding, code *lowered, data *engine.Data, from, to int, gradients bool) (at columns, err error) {
	n := to - from
	if at.floats, err = h.alloc(4 * n * code.floats); err == nil {
		at.integers, err = h.alloc(4 * n * code.integers)
	}
	if err != nil {
		return at, fmt.Errorf("%d samples of %d values: %w", n, code.floats+code.integers, err)
	}
	for k, in := range code.Inputs {
		column := data.Columns[k]
		switch {
		case n == 0 || column.Len() == 0:
		case in.Type == compile.Int32:
			ids := column.Ints[from*in.Size : to*in.Size]
			err = driver.Upload(h.device, at.integers, code.columns[k]*n, ids)
			if before := code.equals[k]; err == nil && gradients && before >= 0 {
				err = driver.Upload(h.device, at.integers, before*n, equals(ids, in.Size))
			}
		default:
			err = driver.Upload(h.device, at.floats, code.columns[k]*n, column.Floats[from*in.Size:to*in.Size])
		}
		if err != nil {
			return at, err
		}
	}
	return at, nil
}

// equals returns two columns which say of samples of some integers each, that aren't negative, which are equal: where they are, those of
// the same integer one after another and ascending; and where a new one begins how many are the same, else 0.
func equals(ids []int32, each int) []int32 {
	out := make([]int32, 2*len(ids))
	places, counts := out[:len(ids)], out[len(ids):]
	sorted := make([]int64, each) // integer, then place
	for from := 0; from < len(ids); from += each {
		for i, id := range ids[from : from+each] {
			sorted[i] = int64(id)<<32 | int64(i)
		}
		slices.Sort(sorted)
		first := from
		for i, v := range sorted {
			places[from+i] = int32(v)
			if i > 0 && v>>32 != sorted[i-1]>>32 {
				first = from + i
			}
			counts[first]++
		}
	}
	return out
}
