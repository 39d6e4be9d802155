package train

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"sync"

	"github.com/dptrain/dptrain/train/compile"
	"github.com/dptrain/dptrain/train/engine"
)

// Data is a checked set of samples. It keeps the slices it is made from: they must not change
// afterwards. Runs are told apart by their data as they were first seen; two runs on one Data whose slices
// changed in between would draw the same noise.
type Data struct {
	columns engine.Data
	digest  func() [sha256.Size]byte // of the columns, computed once
}

// DataError says what is wrong with a set of samples.
type DataError struct {
	Problem string
}

func (e *DataError) Error() string { return e.Problem }

// NewData returns a set of n samples. Column k holds n rows of equal length, row after row: the values
// of the model's input k. The error, a [*DataError], tells of a column that doesn't divide into n rows
// or the first value that isn't finite.
func NewData(samples int, columns ...[]float32) (*Data, error) {
	if samples < 0 || samples > math.MaxInt32 {
		return nil, &DataError{fmt.Sprintf("%d samples: want 0 to %d", samples, math.MaxInt32)}
	}
	for k, column := range columns {
		if err := checkColumn(samples, column); err != nil {
			return nil, &DataError{fmt.Sprintf("column %d: %v", k, err)}
		}
	}
	d := &Data{columns: engine.Data{Samples: samples, Columns: engine.Floats(columns...)}}
	d.digest = sync.OnceValue(func() [sha256.Size]byte { return digest(columns) })
	return d, nil
}

// digest hashes tensors: their number, lengths and values.
func digest(tensors [][]float32) [sha256.Size]byte {
	h := sha256.New()
	buf := binary.LittleEndian.AppendUint64(nil, uint64(len(tensors)))
	for _, t := range tensors {
		buf = binary.LittleEndian.AppendUint64(buf, uint64(len(t)))
		for _, v := range t {
			if buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(v)); len(buf) >= 1<<16 {
				h.Write(buf)
				buf = buf[:0]
			}
		}
	}
	h.Write(buf)
	return [sha256.Size]byte(h.Sum(nil))
}

func checkColumn(samples int, column []float32) error {
	if samples == 0 {
		if len(column) != 0 {
			return fmt.Errorf("%d values for no samples", len(column))
		}
		return nil
	}
	if len(column) == 0 || len(column)%samples != 0 {
		return fmt.Errorf("%d values don't divide into %d samples", len(column), samples)
	}
	size := len(column) / samples
	for i, v := range column {
		if v-v != 0 { // NaN or infinite
			return fmt.Errorf("sample %d, value %d is %v: want finite numbers", i/size, i%size, v)
		}
	}
	return nil
}

// Samples returns the number of samples.
func (d *Data) Samples() int { return d.columns.Samples }

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
	}
	return nil
}
