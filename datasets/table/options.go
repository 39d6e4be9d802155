package table

import (
	"math"
	"slices"
	"strings"
)

// Task is what a model is to tell of a row.
type Task string

// The tasks.
const (
	Classification Task = "classification" // which of several classes it is in
	Regression     Task = "regression"     // a number
)

// All stands for every column of numbers that isn't named itself, and in a list of categories for every category that
// isn't.
const All = "*"

// Options say how the rows of a file become samples. All of it has to be public: none of it may be found by looking at
// private rows.
type Options struct {
	Label   string   // the column of labels
	Task    Task     // empty: by the public test file
	Classes []string // empty: those of the public test file. What is here is their order, too
	Ignore  []string // columns to leave out

	Categories map[string][]string   // of columns, which become one-hot
	Clip       map[string][2]float64 // lowest and highest value, before scaling
	Scale      map[string][2]float64 // shift and divisor: x becomes (x - shift)/divisor
}

// Range bounds values.
type Range struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Scale turns x into (x − Shift)/Divisor.
type Scale struct {
	Shift   float64 `json:"shift"`
	Divisor float64 `json:"divisor"`
}

// Validate returns an [*OptionError] for the first option that can't be used with any file.
func (o Options) Validate() error {
	if o.Label == "" {
		return optionf("label", "name the column that holds the labels")
	}
	if err := o.validateTask(); err != nil {
		return err
	}
	if err := checkClasses(o.Classes); err != nil {
		return err
	}
	if slices.Contains(o.Ignore, o.Label) {
		return optionf("ignore", "%s is the label", o.Label)
	}
	for name, list := range o.Categories {
		if err := checkList("categories of "+name, list); err != nil {
			return err
		}
		if len(list) == 0 {
			return optionf("categories of "+name, "none; list them, as in %s=red,green,blue", name)
		}
		if name == o.Label {
			return optionf("categories", "%s is the label; list its classes by --classes", name)
		}
	}
	for name, clip := range o.Clip {
		if !(Range{clip[0], clip[1]}).valid() {
			return optionf("clip of "+name, "%v and %v: want a lowest and a higher highest value", clip[0], clip[1])
		}
	}
	for name, scale := range o.Scale {
		if !(Scale{scale[0], scale[1]}).valid() {
			return optionf("scale of "+name, "%v and %v: want a number to subtract and one above 0 to divide by", scale[0], scale[1])
		}
	}
	return nil
}

func (o Options) validateTask() error {
	switch o.Task {
	case "", Classification:
		return nil
	case Regression:
		if len(o.Classes) > 0 {
			return optionf("classes", "regression has none; leave them out, or choose classification")
		}
		return nil
	}
	return optionf("task", "%q: want %s or %s", o.Task, Classification, Regression)
}

// checkList refuses what stands twice.
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

// checkClasses refuses a single class, and numbers that are one class however they are written: labels would all be the last
// of them, and the others would have no rows without a word.
func checkClasses(classes []string) error {
	if err := checkList("classes", classes); err != nil {
		return err
	}
	if len(classes) == 1 {
		return optionf("classes", "%q is the only one; list all classes, those that no public row has among them", classes[0])
	}
	written := make(map[string]string, len(classes))
	for i, c := range canonicals(classes) {
		if first, twice := written[c]; twice {
			return optionf("classes", "%q and %q are the same number, and one class", first, classes[i])
		}
		written[c] = classes[i]
	}
	return nil
}

func (r Range) valid() bool { return r.Low < r.High && finite(r.Low) && finite(r.High) }

// valid asks for divisors that leave a number finite.
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
