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
	"github.com/dptrain/dptrain/internal/given"
)

// Data is a checked set of samples, one column for each input of a model. Make it by [NewData], or for labelled samples
// by [NewClassification] or [NewRegression]. It owns its memory and never changes, because runs derive their noise from
// a hash of their data. If data changed between two runs of one key, the runs would share noise, and the difference of
// their results would reveal a gradient without noise.
type Data struct {
	columns engine.Data
	digest  func() [sha256.Size]byte // of the columns, computed once
}

// Column holds the values of one input for all samples, row after row: Floats for floating-point numbers, or Ints for
// integers such as the ids of words. The other field is nil.
type Column = engine.Column

// DataError reports a problem of a set of samples.
type DataError struct {
	Problem string
}

func (e *DataError) Error() string { return e.Problem }

// NewData returns a set of samples. Column k holds the values of the model's input k: as many rows as there are
// samples, of equal length, row after row. NewData copies the columns; drop your own to save the memory. The error, a
// [*DataError], reports a column that doesn't divide into rows, or the first value that isn't finite.
func NewData(samples int, columns ...[]float32) (*Data, error) {
	return NewTypedData(samples, engine.Floats(columns...)...)
}

// NewTypedData is like [NewData], for columns of floating-point numbers or integers. Integers index rows of a
// parameter, an embedding table; [Load] checks that the parameter has these rows.
func NewTypedData(samples int, columns ...Column) (*Data, error) {
	return newData(samples, copied(columns...).Take())
}

// copied returns copies of a caller's columns, which newData may keep.
func copied(columns ...engine.Column) given.Columns {
	out := make([]engine.Column, len(columns))
	for k, c := range columns {
		out[k] = engine.Column{Floats: slices.Clone(c.Floats), Ints: slices.Clone(c.Ints)}
	}
	return given.Away(out...)
}

// newData checks the columns and keeps them: nothing may write to them afterwards.
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

// Prepare computes the hash of the data, at about a gigabyte a second. Otherwise the first [Loaded.Start] computes it.
// Call Prepare beside other work to save time. It may be called concurrently with all uses of the data.
func (d *Data) Prepare() {
	if d != nil && d.digest != nil {
		d.digest()
	}
}

// Digest returns a hash of the samples. Equal data have equal hashes. It is private, since it can confirm a guess at
// the data. A nil set has the hash of no columns.
func (d *Data) Digest() [sha256.Size]byte {
	if d == nil || d.digest == nil {
		return digest()
	}
	return d.digest()
}

// digest returns a hash of the number of columns and of the type, length and values of each.
func digest(columns ...engine.Column) [sha256.Size]byte {
	const integers = 1 << 63 // added to the length, which is far smaller
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

// Samples returns the number of samples. A nil set has 0.
func (d *Data) Samples() int {
	if d == nil {
		return 0
	}
	return d.columns.Samples
}

// checkInputs checks the columns against the program's inputs: their number, sizes and types. The error is a
// [*DataError].
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

// checkType checks a column's type against input k's, and its integers against the rows that the model gathers by them.
func checkType(column engine.Column, p *compile.Program, k int) error {
	input, integers := p.Inputs[k], p.Inputs[k].Type == compile.Int32
	switch {
	case integers && column.Floats != nil:
		return fmt.Errorf("it holds floating-point numbers, the model's input %q takes integers", input.Name)
	case !integers && column.Ints != nil:
		return fmt.Errorf("it holds integers, the model's input %q takes floating-point numbers", input.Name)
	}
	low, high := p.Range(k)
	for i, v := range column.Ints {
		if v < low || v > high {
			return fmt.Errorf("sample %d, value %d is %d: the model's input %q takes %d to %d", i/input.Size, i%input.Size, v, input.Name, low, high)
		}
	}
	return nil
}

// Labelled is a set of samples on which a model is scored: a [*Classification] or a [*Regression] of public samples, a
// [*Measured], which has the caller's own measure, or a [*HeldOut] of private samples.
type Labelled interface {
	Samples() int
	// Metric returns the metric of a model's score. A higher score is better.
	Metric() Metric
	// Constant returns the score of the best constant output: the share of the largest class for [Accuracy], 0 for
	// [R2]; see [Measured] for others. A model that has learned something scores higher.
	Constant() float64
	// Inputs returns the model's inputs, labels included; nil if there are none.
	Inputs() *Data

	outputs() int    // number of values in the model's output for one sample
	scorable() error // a [*DataError] if no output can be scored
	// score returns the score of the outputs for all samples, sample after sample. It is finite.
	score(outputs []float32) float64
}

// errNoLabels is the error of a labelled set that is nil or a zero value.
var errNoLabels = &DataError{"none; make one by NewClassification or NewRegression"}

// checkLabels returns a [*DataError] for a set whose field Data was replaced, so that its labels belong to other
// samples.
func checkLabels(labels int, data *Data) error {
	if labels != data.Samples() {
		return &DataError{fmt.Sprintf("%d labels for %d samples: its Data isn't what it was made with", labels, data.Samples())}
	}
	return nil
}

// Metric is the name of a score: one of the constants below, or the name of a [Measure].
type Metric string

// The built-in metrics. A higher score is better in all of them.
const (
	Accuracy Metric = "accuracy" // share of the samples whose class is predicted, 0 to 1
	R2       Metric = "R²"       // 1 − Σ(ŷ−y)²/Σ(y−ȳ)²: 1 for the labels themselves, 0 for their mean, unbounded below

	// NegativeLogLoss is the mean of ln p, where p is the probability of a sample's class. Held-out samples can be
	// scored by it: see [HeldOutSettings].
	NegativeLogLoss Metric = "negative log loss"
)
