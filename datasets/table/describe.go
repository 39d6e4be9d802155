package table

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/dptrain/dptrain/internal/float"
)

// Description describes a public file.
type Description struct {
	Rows    int       `json:"rows"`
	Columns []Summary `json:"columns"`
}

// Summary describes a column of a public file.
type Summary struct {
	Name    string `json:"name"`
	Shape   []int  `json:"shape,omitempty"`
	Missing int    `json:"missing"` // number of missing values: see the type Missing
	// Numbers reports whether all values are numbers, except for missing ones and Words, and no codes such as 007. If
	// not, the fields from Whole to Median are zero. These leave out Sentinels.
	Numbers   bool    `json:"numbers"`
	Whole     bool    `json:"whole"` // whether no number has a fraction
	Low       float64 `json:"low"`
	High      float64 `json:"high"`
	Mean      float64 `json:"mean"`
	Deviation float64 `json:"standard_deviation"`
	Median    float64 `json:"median"` // with a single value a row: one of the values
	// Sentinels are numbers such as -999 that probably mark missing ones, as texts, and SentinelRows their rows.
	Sentinels    []string `json:"sentinels,omitempty"`
	SentinelRows int      `json:"sentinel_rows,omitempty"`
	// Texts is the number of values that aren't numbers, such as unknown, in a column that also has numbers. Text is
	// the first such value. Words are all such values, each once, if they probably mark missing values.
	Texts int      `json:"texts,omitempty"`
	Text  string   `json:"text,omitempty"`
	Words []string `json:"words,omitempty"`
	// Categories are the different values as texts, sorted, if there are at most [MaxClasses]. Counts are their numbers
	// of rows.
	Categories []string `json:"categories,omitempty"`
	Counts     []int    `json:"counts,omitempty"`
	Written    string   `json:"written,omitempty"` // how its numbers are written: see [Options.Written]
	Problem    string   `json:"problem,omitempty"` // the reason why the column can't be read
	// Prose reports whether the values are texts of several words, most of them different, such as reviews.
	Prose bool `json:"prose,omitempty"`
	// Useless is the reason why a model should not learn from the column, such as row numbers; empty if there is
	// none.
	Useless string `json:"useless,omitempty"`
	// MayBeID reports whether a column that isn't useless has whole numbers that are named, or written, as ids are.
	MayBeID bool `json:"may_be_id,omitempty"`
}

// Describe summarises the columns of the file, for a person who writes [Options]. The file must be public: to use
// means, ranges or categories of private rows in training would release them without accounting. Row numbers in a
// first column without a name are left out. A column to ignore may be unreadable.
//
// An array of an NPZ file with one axis a row is a column. If its values are of unlike units, each is a column, called
// x[0], x[1] and so on.
//
// Of the options it takes Ignore and Written.
func (f *File) Describe(o Options) (Description, error) {
	if err := o.checkWritten(); err != nil {
		return Description{}, err
	}
	f.call(slices.Concat(o.Ignore, slices.Collect(maps.Keys(o.Written)))...)
	d, unlike, err := f.describe(o, o.Ignore)
	if err == nil && len(unlike) > 0 {
		d, _, err = f.describe(o, append(unlike, o.Ignore...))
	}
	for name := range o.Written {
		if err == nil && name != All && !slices.Contains(f.names, name) {
			err = optionf("written", "%s has no column %q; it has %s", f.path, name, listed(f.names))
		}
	}
	if err == nil {
		err = f.checkUnnamed()
	}
	return d, cited(err)
}

// maxDescribed bounds the columns of a description: settings for more of them take minutes to read.
const maxDescribed = 20_000

// describe describes the file with some arrays split. unlike has a value's name of each other array that should be.
func (f *File) describe(o Options, parts []string) (d Description, unlike []string, err error) {
	wanted := func(name string) bool { return !slices.Contains(o.Ignore, name) }
	err = f.pass(wanted, func(r rows) error {
		fields := split(r.fields(), parts)
		if len(fields) > maxDescribed {
			return problemf("%d columns; up to %d can be described, one by one; to train, scale and clip all alike, as by --scale '*=0,1'", len(fields), maxDescribed)
		}
		if err := o.findWritten(f, fields, wanted); err != nil {
			return err
		}
		by := map[string]string{}
		for _, x := range fields {
			by[x.name] = x.written
		}
		r = notated(r, by)
		columns, ranges := make([]summing, len(fields)), make([]spreads, len(fields))
		most := min(max(maxKept/len(fields), minKept), maxKeptOfOne)
		for i, f := range fields {
			if columns[i] = newSumming(f, most); len(f.shape) == 1 && f.shape[0] <= maxDescribed {
				ranges[i] = make(spreads, f.width())
			}
			switch {
			case f.unclear != "":
				fields[i].problem = f.unclear
			case f.cited != "":
				fields[i].problem += "; " + f.cited
			case f.problem == "" && f.rows > 0 && f.rows != r.known():
				fields[i].problem = fmt.Sprintf("%d rows, and other arrays have %d", f.rows, r.known())
			}
		}
		err := each(r, "", func(row []cell) error {
			d.Rows++
			for i, f := range fields {
				for _, v := range row[:f.width()] {
					if v.kind == rawBytes {
						fields[i].problem = noText
						continue
					}
					columns[i].add(v)
				}
				ranges[i].add(row)
				row = row[f.width():]
			}
			return nil
		})
		if err != nil {
			return err
		}
		for i, f := range fields { // with the problems found
			if ranges[i].unlike() {
				unlike = append(unlike, f.name+"[0]")
			}
			if f.name != "" {
				d.Columns = append(d.Columns, columns[i].summary(f))
				if c := &d.Columns[len(d.Columns)-1]; c.Numbers {
					if c.Written = f.written; c.Written == asDate { // days may only grow
						c.Useless = ""
					}
					for i, mark := range c.Sentinels {
						if n := notationOf(c.Written); n != nil {
							c.Sentinels[i] = n.write(mark)
						}
					}
				}
			}
		}
		return checkCount(d.Rows)
	})
	return d, unlike, err
}

// Task returns the task that [Infer] infers if this column is the label.
func (s Summary) Task() Task {
	if s.Numbers && len(s.Words) == 0 && (!s.Whole || len(s.Categories) == 0) {
		return Regression
	}
	return Classification
}

// Suggested returns a shift and a divisor for a column of numbers, rounded to about three digits of the divisor. It
// returns false for a column that doesn't vary.
func (s Summary) Suggested() (scale [2]float64, ok bool) {
	scale = roundedScale(s.Mean, s.Deviation)
	return scale, s.Numbers && scale[1] > 0 && Scale{scale[0], scale[1]}.valid()
}

// SuggestedMissing returns the treatment of missing values of a column of numbers: the median or, for arrays, the mean,
// and an indicator if enough rows lack a value for a model to learn from that, or if there are sentinels: one that is
// a number after all is then still told apart. It returns false for a column without missing values.
func (s Summary) SuggestedMissing() (m Missing, ok bool) {
	gaps := s.Missing + s.Texts + s.SentinelRows
	if !s.Numbers || gaps == 0 {
		return Missing{}, false
	}
	fill := s.Median
	if len(s.Shape) > 0 { // whose values aren't kept
		fill = roundedScale(s.Mean, s.Deviation)[0]
	}
	const few = 3
	return Missing{Fill: fill, Indicator: len(s.Shape) == 0 && (gaps > few || s.SentinelRows > 0), Words: slices.Concat(s.Words, s.Sentinels)}, true
}

// Outward returns bounds that hold all numbers, rounded outward to three digits of their distance.
func (s Summary) Outward() [2]float64 {
	bounds := [2]float64{s.Low, s.High}
	digits := 2 - math.Floor(math.Log10(s.High-s.Low))
	if unit := math.Pow(10, -digits); unit > 0 && !math.IsInf(unit, 0) && digits < 300 {
		for i, round := range []func(float64) float64{math.Floor, math.Ceil} {
			// Parse a decimal text: a product such as 29*0.01 isn't the number that a person would write.
			text := strconv.FormatFloat(round(bounds[i]/unit)*unit, 'f', max(0, int(digits)), 64)
			bounds[i], _ = strconv.ParseFloat(text, 64)
		}
		if !(bounds[0] <= s.Low && bounds[1] >= s.High && (Range{bounds[0], bounds[1]}).valid()) {
			return [2]float64{s.Low, s.High}
		}
	}
	return bounds
}

// roundedScale rounds a divisor to three digits, and a shift to enough digits to make no difference: a column far from
// 0 that varies little keeps its middle.
func roundedScale(shift, divisor float64) [2]float64 {
	digits := 3
	if ratio := math.Abs(shift) / divisor; ratio > 1 && ratio < 1e13 {
		digits = max(digits, 2+int(math.Ceil(math.Log10(ratio))))
	}
	return [2]float64{float.Rounded(shift, digits), float.Rounded(divisor, 3)}
}
