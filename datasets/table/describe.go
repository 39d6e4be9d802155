package table

import (
	"math"
	"slices"
	"strconv"
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
	Missing int    `json:"missing"`
	// Numbers reports whether all values are numbers. If not, the fields from Whole to Deviation are zero.
	Numbers   bool    `json:"numbers"`
	Whole     bool    `json:"whole"` // whether no number has a fraction
	Low       float64 `json:"low"`
	High      float64 `json:"high"`
	Mean      float64 `json:"mean"`
	Deviation float64 `json:"standard_deviation"`
	// Texts is the number of values that aren't numbers, such as NA, in a column that also has numbers. Text is the
	// first such value.
	Texts int    `json:"texts,omitempty"`
	Text  string `json:"text,omitempty"`
	// Categories are the different values as texts, sorted, if there are at most [MaxClasses].
	Categories []string `json:"categories,omitempty"`
	Problem    string   `json:"problem,omitempty"` // the reason why the column can't be read
}

// Describe summarises the columns of a file, for a person who writes [Options]. The file must be public: to use means,
// ranges or categories of private rows in training would release them without accounting.
func Describe(public *File) (Description, error) {
	var d Description
	err := public.pass(nil, func(r rows) error {
		fields := r.fields()
		columns := make([]summing, len(fields))
		err := each(r, "", func(row []cell) error {
			d.Rows++
			for i, f := range fields {
				for _, v := range row[:f.width()] {
					columns[i].add(v)
				}
				row = row[f.width():]
			}
			return nil
		})
		if err != nil {
			return err
		}
		for i, f := range fields {
			d.Columns = append(d.Columns, columns[i].summary(f))
		}
		return checkCount(d.Rows)
	})
	return d, Cited(err)
}

// summing summarises a column value by value. Mean and squares are Welford's.
type summing struct {
	missing, numbers, texts int
	fractions               int
	text                    cell // the first of the texts
	low, high               float64
	mean, squares           float64
	seen                    map[string]bool // at most MaxClasses + 1
}

func (s *summing) add(v cell) {
	if v.kind == missing {
		s.missing++
		return
	}
	if s.seen == nil {
		s.seen = map[string]bool{}
	}
	if len(s.seen) <= MaxClasses {
		s.seen[v.String()] = true
	}
	x, ok := v.value()
	if !ok {
		if s.texts == 0 {
			s.text = v
		}
		s.texts++
		return
	}
	if s.numbers == 0 {
		s.low, s.high = x, x
	}
	s.numbers++
	if x != math.Trunc(x) {
		s.fractions++
	}
	s.low, s.high = min(s.low, x), max(s.high, x)
	d := x - s.mean
	s.mean += d / float64(s.numbers)
	s.squares += d * (x - s.mean)
}

func (s *summing) summary(f field) Summary {
	out := Summary{Name: f.name, Shape: f.shape, Missing: s.missing, Problem: f.problem}
	if len(s.seen) <= MaxClasses {
		for text := range s.seen {
			out.Categories = append(out.Categories, text)
		}
		slices.Sort(out.Categories)
	}
	if out.Numbers = s.texts == 0 && s.numbers > 0; out.Numbers {
		out.Whole = s.fractions == 0
		out.Low, out.High, out.Mean = s.low, s.high, s.mean
		out.Deviation = math.Sqrt(s.squares / float64(s.numbers))
	}
	if s.texts > 0 && s.numbers > 0 {
		out.Texts, out.Text = s.texts, s.text.excerpt()
	}
	return out
}

// Task returns the task that [Infer] infers if this column is the label.
func (s Summary) Task() Task {
	if s.Numbers && (!s.Whole || len(s.Categories) == 0) {
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

// roundedScale rounds a divisor to three digits, and a shift to as many as that makes no difference: a column that is
// far from 0 and varies little keeps its middle.
func roundedScale(shift, divisor float64) [2]float64 {
	digits := 3
	if ratio := math.Abs(shift) / divisor; ratio > 1 && ratio < 1e13 {
		digits = max(digits, 2+int(math.Ceil(math.Log10(ratio))))
	}
	return [2]float64{rounded(shift, digits), rounded(divisor, 3)}
}

func rounded(v float64, digits int) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64) // it was just printed
	return r
}
