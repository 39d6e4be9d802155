package table

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// Task is the kind of a model's prediction.
type Task string

// The tasks.
const (
	Classification Task = "classification" // one of several classes
	Regression     Task = "regression"     // a number
)

// All means every column of numbers that the same setting doesn't name and, in a list of categories, every category
// that isn't listed.
const All = "*"

// Options are the settings of the conversion from rows to samples. All of them must be public: none may be chosen by
// looking at private rows.
type Options struct {
	Label   string   // the column of labels
	Task    Task     // empty: inferred from the public test file
	Classes []string // in the order of a model's outputs; empty: inferred from the public test file
	Ignore  []string // columns to leave out
	// Columns are the columns to learn from, in the order of a sample's values; the label and ignored columns may be
	// among them. Empty: all of the public test file. [SchemaOf] needs them.
	Columns []string
	Text    string // the column of texts, which is learned from alone; empty: none
	// TextLength is the number of tokens that a text is cut to; 0 means 256.
	TextLength int
	Unit       string // the column that names a row's owner, also left out; a public file may lack it

	// In these and in Ignore, x[3] means value 3 of each row of array x, which has one axis a row. Then each value of x
	// is a column.
	Shapes     map[string][]int      // of one row's values, by column; only for [SchemaOf]: a test file has shapes
	Categories map[string][]string   // by column; their values become one-hot
	Missing    map[string]Missing    // by column of numbers; without it a missing number is an error
	Clip       map[string][2]float64 // minimum and maximum by column, before scaling
	Scale      map[string][2]float64 // shift and divisor by column: x becomes (x - shift)/divisor
	// Written says how columns of text write their numbers, by an example with the decimal sign and what stands around
	// it: 1,5 or $1.5 or 1.5 mmHg, or 1 % for numbers without one. Digits may be grouped by threes if there is one. Or
	// it is date, for days since 1970-01-01. By column; All for all others. Without it the public test file shows it.
	Written map[string]string
}

// Range is the minimum and maximum that values are clipped to.
type Range struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Scale turns x into (x − Shift)/Divisor.
type Scale struct {
	Shift   float64 `json:"shift"`
	Divisor float64 `json:"divisor"`
}

// Missing sets how missing values of a column of numbers become samples' values. A cell is missing if it is empty,
// null, NaN, or one of NA, N/A, NaN, nan, null, NULL, None and ?.
type Missing struct {
	Fill float64 `json:"fill" yaml:"fill"` // in the unit of the file; clipped and scaled as any number
	// Indicator adds a value after the number: 1 if the cell was missing, else 0.
	Indicator bool `json:"indicator,omitempty" yaml:"indicator,omitempty"`
	// Words are more texts that mark a missing value, such as unknown. A word that is a number, such as -999, counts in
	// every notation.
	Words []string `json:"words,omitempty" yaml:"words,flow,omitempty"`
}

func (m Missing) check(option string) error {
	return cmp.Or(
		require(finite(m.Fill), option, "fill %v: want a finite number", m.Fill),
		require(!slices.Contains(m.Words, ""), option, "an empty word, which is missing in any case; leave it out"),
		checkList(option+": words", m.Words),
	)
}

// Validate returns an [*OptionError] for the first option that can't be used with any file.
func (o Options) Validate() error {
	return cmp.Or(
		require(o.Label != "", "label", "name the column that holds the labels"),
		require(slices.Contains([]Task{"", Classification, Regression}, o.Task), "task", "%q: want %s or %s", o.Task, Classification, Regression),
		require(o.Task != Regression || len(o.Classes) == 0, "classes", "regression has none; leave them out, or choose classification"),
		checkClasses(o.Classes),
		checkList("columns", o.Columns),
		require(!slices.Contains(o.Columns, ""), "columns", "an empty name; list the names in the header"),
		require(o.Unit == "" || o.Unit != o.Label && o.Categories[o.Unit] == nil, "unit", "%s is learned from; name the column that says whose a row is", o.Unit),
		o.checkText(),
		require(!slices.Contains(o.Ignore, o.Label), "ignore", "%s is the label", o.Label),
		checkEach(o.Categories, func(name string, list []string) error {
			return cmp.Or(
				checkList("categories of "+name, list),
				require(len(list) > 0, "categories of "+name, "none; list them, as in %s=red,green,blue", name),
				require(name != o.Label, "categories", "%s is the label; list its classes by --classes", name),
			)
		}),
		checkEach(o.Missing, func(name string, m Missing) error {
			_, also := o.Categories[name]
			return cmp.Or(
				m.check("missing of "+name),
				require(name != o.Label, "missing", "%s is the label, which every row needs; leave rows without one out", name),
				require(!also, "missing", `%s has categories; list "" among them for a missing one`, name),
			)
		}),
		o.checkWritten(),
		checkEach(o.Shapes, func(name string, shape []int) error {
			wrong := slices.ContainsFunc(shape, func(d int) bool { return d < 1 || d > maxWidth }) || len(shape) > maxAxes
			return require(!wrong, "shapes of "+name, "%v: want up to %d lengths of 1 to %d", shape, maxAxes, maxWidth)
		}),
		checkEach(o.Clip, func(name string, clip [2]float64) error {
			return require(Range{clip[0], clip[1]}.valid(), "clip of "+name, "%v and %v: want a lowest and a higher highest value", clip[0], clip[1])
		}),
		checkEach(o.Scale, func(name string, scale [2]float64) error {
			return require(Scale{scale[0], scale[1]}.valid(), "scale of "+name, "%v and %v: want a number to subtract and one above 0 to divide by", scale[0], scale[1])
		}),
	)
}

// require returns an error about an option unless it is as it must be.
func require(ok bool, option, format string, args ...any) error {
	if ok {
		return nil
	}
	return optionf(option, format, args...)
}

// checkEach returns the first error of the options of all columns.
func checkEach[V any](options map[string]V, check func(name string, v V) error) error {
	for name, v := range options {
		if err := check(name, v); err != nil {
			return err
		}
	}
	return nil
}

// checkList returns an error for a text that is listed twice or that has blanks around it.
func checkList(option string, list []string) error {
	seen := make(map[string]bool, len(list))
	for _, s := range list {
		if s != strings.TrimSpace(s) {
			return optionf(option, "%q begins or ends with a blank, which cells lose", s)
		}
		if seen[s] {
			return optionf(option, "%q stands twice", s)
		}
		seen[s] = true
	}
	return nil
}

// checkClasses returns an error for a single class, and for two classes that are the same number: all their labels
// would silently have the last of them.
func checkClasses(classes []string) error {
	if err := checkList("classes", classes); err != nil {
		return err
	}
	// Empty rows at a file's end are none, so a row behind them would decide whether they count.
	if slices.Contains(classes, "") {
		return optionf("classes", "an empty one; write a word for it into the file")
	}
	if len(classes) == 1 {
		return optionf("classes", "%q is the only one; list all classes, those that no public row has among them", classes[0])
	}
	written := make(map[string]string, len(classes))
	for i, c := range canonicals(classes, "") {
		if first, twice := written[c]; twice {
			return optionf("classes", "%q and %q are the same number, and one class", first, classes[i])
		}
		written[c] = classes[i]
	}
	return nil
}

func (r Range) valid() bool { return r.Low < r.High && finite(r.Low) && finite(r.High) }

// valid reports whether the constants, and numbers divided by the divisor, are finite.
func (s Scale) valid() bool {
	return finite(s.Shift) && s.Divisor > 0 && finite(s.Divisor) && finite(1/s.Divisor)
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func (r *Range) clip(v float64) float64 {
	if r == nil {
		return v
	}
	return min(max(v, r.Low), r.High)
}

func (s *Scale) apply(v float64) float64 {
	if s == nil {
		return v
	}
	return (v - s.Shift) / s.Divisor
}
