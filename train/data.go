package train

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
)

// Data is a checked set of samples. It is a copy of its own and never changes: runs derive their noise from a hash of
// their data, so that two runs of one key on data that changed in between would share noise, and their difference would
// release a gradient without any.
type Data struct {
	columns engine.Data
	digest  func() [sha256.Size]byte // of the columns, computed once
}

// Column is one input's values for all samples, row after row: floating-point numbers in Floats or integers, such as the
// ids of words, in Ints, and the other one nil.
type Column = engine.Column

// DataError says what is wrong with a set of samples.
type DataError struct {
	Problem string
}

func (e *DataError) Error() string { return e.Problem }

// NewData returns a set of n samples. Column k holds n rows of equal length, row after row: the values
// of the model's input k. NewData copies the columns: a caller that drops its own halves their memory. The error, a
// [*DataError], reports a column that doesn't divide into n rows or the first value that isn't finite.
func NewData(samples int, columns ...[]float32) (*Data, error) {
	return NewTypedData(samples, engine.Floats(columns...)...)
}

// NewTypedData is NewData for columns of floating-point numbers or integers. Integers are what a model picks rows of tables by; whether
// its tables have such rows is told when the data are loaded with it.
func NewTypedData(samples int, columns ...Column) (*Data, error) {
	return newData(samples, copied(columns))
}

// copied returns columns that share no memory with those of a caller.
func copied(columns []engine.Column) []engine.Column {
	out := make([]engine.Column, len(columns))
	for k, c := range columns {
		out[k] = engine.Column{Floats: slices.Clone(c.Floats), Ints: slices.Clone(c.Ints)}
	}
	return out
}

// newData keeps the columns, which no caller of the package may hold.
func newData(samples int, columns []engine.Column) (*Data, error) {
	if samples < 0 || samples > math.MaxInt32 {
		return nil, &DataError{fmt.Sprintf("%d samples: want 0 to %d", samples, math.MaxInt32)}
	}
	for k, column := range columns {
		if err := checkColumn(samples, column); err != nil {
			return nil, &DataError{fmt.Sprintf("column %d: %v", k, err)}
		}
	}
	d := &Data{columns: engine.Data{Samples: samples, Columns: columns}}
	d.digest = sync.OnceValue(func() [sha256.Size]byte { return digest(columns...) })
	return d, nil
}

// digest hashes columns: their number, and each one's type, length and values.
func digest(columns ...engine.Column) [sha256.Size]byte {
	const integers = 1 << 63 // beside the length, which is that of a slice
	h := sha256.New()
	buf := binary.LittleEndian.AppendUint64(nil, uint64(len(columns)))
	word := func(v uint32) {
		if buf = binary.LittleEndian.AppendUint32(buf, v); len(buf) >= 1<<16 {
			h.Write(buf)
			buf = buf[:0]
		}
	}
	for _, c := range columns {
		length := uint64(c.Len())
		if c.Ints != nil {
			length |= integers
		}
		buf = binary.LittleEndian.AppendUint64(buf, length)
		for _, v := range c.Floats {
			word(math.Float32bits(v))
		}
		for _, v := range c.Ints {
			word(uint32(v))
		}
	}
	h.Write(buf)
	return [sha256.Size]byte(h.Sum(nil))
}

func checkColumn(samples int, column engine.Column) error {
	n := column.Len()
	switch {
	case column.Floats != nil && column.Ints != nil:
		return errors.New("it holds both floating-point numbers and integers")
	case samples == 0 && n != 0:
		return fmt.Errorf("%d values for no samples", n)
	case samples == 0:
		return nil
	case n == 0 || n%samples != 0:
		return fmt.Errorf("%d values don't divide into %d samples", n, samples)
	}
	size := n / samples
	for i, v := range column.Floats {
		if v-v != 0 { // NaN or infinite
			return fmt.Errorf("sample %d, value %d is %v: want finite numbers", i/size, i%size, v)
		}
	}
	return nil
}

// Samples returns the number of samples; 0 of nil.
func (d *Data) Samples() int {
	if d == nil {
		return 0
	}
	return d.columns.Samples
}

// checkInputs returns a [*DataError] where the columns don't have the shapes of the program's inputs.
func (d *Data) checkInputs(p *compile.Program) error {
	if d == nil || d.digest == nil {
		return &DataError{"no data; make them by NewData"}
	}
	if len(d.columns.Columns) != len(p.Inputs) {
		return &DataError{fmt.Sprintf("the data has %d columns, the model %d inputs", len(d.columns.Columns), len(p.Inputs))}
	}
	for k, input := range p.Inputs {
		if got := d.columns.Columns[k].Len(); got != d.Samples()*input.Size {
			return &DataError{fmt.Sprintf("column %d holds %d values for %d samples, the model's input %q takes %d a sample %v",
				k, got, d.Samples(), input.Name, input.Size, input.Shape)}
		}
		if err := checkType(d.columns.Columns[k], p, k); err != nil {
			return &DataError{fmt.Sprintf("column %d: %v", k, err)}
		}
	}
	return nil
}

// checkType holds a column's type against input k's, and its integers against the rows that the model picks by them.
func checkType(column engine.Column, p *compile.Program, k int) error {
	input, integers := p.Inputs[k], p.Inputs[k].Type == compile.Int32
	switch {
	case integers && column.Floats != nil:
		return fmt.Errorf("it holds floating-point numbers, the model's input %q takes integers", input.Name)
	case !integers && column.Ints != nil:
		return fmt.Errorf("it holds integers, the model's input %q takes floating-point numbers", input.Name)
	}
	least, most := p.Range(k)
	for i, v := range column.Ints {
		if v < least || v > most {
			return fmt.Errorf("sample %d, value %d is %d: the model's input %q takes %d to %d", i/input.Size, i%input.Size, v, input.Name, least, most)
		}
	}
	return nil
}
