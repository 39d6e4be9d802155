package table

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Schema defines how rows become samples. It contains public information only, and is released with a model as JSON.
type Schema struct {
	Label   Label    `json:"label"`
	Columns []Column `json:"columns"` // in the order of a sample's values
	Shape   []int    `json:"shape"`   // of one sample, without the batch axis

	emptyOnly bool     // see EmptyOnly
	settled   bool     // see Settle
	leftOut   []string // see LeftOut
}

// LeftOut returns the arrays of an NPZ file that [Infer] left out since no option names them, and they have another
// number of rows than the label: names of columns, a version, another split.
func (s *Schema) LeftOut() []string { return s.leftOut }

// EmptyOnly makes only empty cells of categories missing, and treats NA and similar texts like any other. The programs
// that wrote the first version of released models did so, and the predictions of these models mustn't change.
func (s *Schema) EmptyOnly() { s.emptyOnly = true }

// Settle is for a released model's schema. Errors about cells then advise no settings, which can't change any more.
func (s *Schema) Settle() { s.settled = true }

// Label is the column that a model predicts.
type Label struct {
	Name    string   `json:"name"`
	Task    Task     `json:"task"`
	Classes []string `json:"classes,omitempty"` // of a classification, in the order of the outputs
	Written string   `json:"written,omitempty"` // as in Options.Written; empty: plain numbers
	Clip    *Range   `json:"clip,omitempty"`    // of a regression; applied in training only
	Scale   *Scale   `json:"scale,omitempty"`   // of a regression
}

// Column is a column of samples.
type Column struct {
	Name       string   `json:"name"`
	Shape      []int    `json:"shape,omitempty"` // of one row's values; empty for a single value
	Categories []string `json:"categories,omitempty"`
	Written    string   `json:"written,omitempty"` // as in Options.Written; empty: plain numbers
	Clip       *Range   `json:"clip,omitempty"`
	Scale      *Scale   `json:"scale,omitempty"`
	Missing    *Missing `json:"missing,omitempty"`
	Text       *Text    `json:"text,omitempty"` // of a column of texts, the only column
}

// width returns the number of values that the column has in a sample.
func (c Column) width() int {
	if c.Text != nil {
		return c.Text.Length
	}
	if len(c.Categories) > 0 {
		return len(c.Categories)
	}
	if c.Missing != nil && c.Missing.Indicator {
		return product(c.Shape) + 1
	}
	return product(c.Shape)
}

func (c Column) checkMissing() error {
	switch {
	case c.Missing == nil:
		return nil
	case len(c.Categories) > 0:
		return optionf("missing", `%s has categories; list "" among them for a missing one`, c.Name)
	case c.Missing.Indicator && len(c.Shape) > 0:
		return optionf("missing", "%s has shape %v, and an indicator is of a single value; leave the indicator out", c.Name, c.Shape)
	}
	return c.Missing.check("missing of " + c.Name)
}

// Spans returns the lowest and the highest of each value of a sample over all samples, by column; texts and no samples
// have none. These are statistics of the rows: pass public samples only.
func (s *Schema) Spans(public *Samples) [][]Range {
	spans := make([][]Range, len(s.Columns))
	for i, c := range s.Columns {
		if len(public.Values) > 0 {
			spans[i] = slices.Repeat([]Range{{math.Inf(1), math.Inf(-1)}}, c.width())
		}
	}
	for rest := public.Values; len(rest) > 0; {
		for _, of := range spans {
			for j := range of {
				of[j] = Range{min(of[j].Low, float64(rest[j])), max(of[j].High, float64(rest[j]))}
			}
			rest = rest[len(of):]
		}
	}
	return spans
}

// ClippedLabels returns the number of labels of a regression that the schema's clip would change in training. Pass
// public samples only, read with [Testing].
func (s *Schema) ClippedLabels(public *Samples) int {
	n := 0
	for _, y := range public.Numbers {
		if s.Label.clipped(y) != y {
			n++
		}
	}
	return n
}

// maxWidth bounds the values of a sample.
const maxWidth = 1 << 24

func product(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// Outputs returns the number of outputs that a model needs: one for each class, or one for a regression.
func (s *Schema) Outputs() int {
	if s.Label.Task == Regression {
		return 1
	}
	return len(s.Label.Classes)
}

// Number converts an output of a regression to the unit of the file.
func (l Label) Number(output float32) float64 {
	if l.Scale == nil {
		return float64(output)
	}
	return float64(output)*l.Scale.Divisor + l.Scale.Shift
}

// Difference converts the difference of two outputs of a regression to the unit of the file.
func (l Label) Difference(outputs float64) float64 {
	if l.Scale == nil {
		return outputs
	}
	return outputs * l.Scale.Divisor
}

var errNoSchema = errors.New("schema: none; Infer returns one beside a nil error")

// Check returns an error for a schema that [Infer] can't have returned, or nil. Call it on a schema that was read
// from a file.
func (s *Schema) Check() error {
	if s == nil {
		return errNoSchema
	}
	switch l := s.Label; {
	case l.Name == "":
		return fmt.Errorf("schema: the label has no name")
	case l.Task == Regression && len(l.Classes) == 0:
	case l.Task == Classification && len(l.Classes) >= 2 && checkClasses(l.Classes) == nil:
	default:
		return fmt.Errorf("schema: label %s: %q with %d classes", l.Name, l.Task, len(l.Classes))
	}
	width, seen := 0, map[string]bool{s.Label.Name: true}
	for _, c := range s.Columns {
		if c.Name == "" || seen[c.Name] {
			return fmt.Errorf("schema: two columns called %q", c.Name)
		}
		seen[c.Name] = true
		if err := c.check(); err != nil {
			return fmt.Errorf("schema: column %s: %w", c.Name, err)
		}
		if c.Text != nil && len(s.Columns) > 1 {
			return fmt.Errorf("schema: column %s has texts, and isn't the only one", c.Name)
		}
		width += c.width()
	}
	if n, ok := newNotation(s.Label.Written); !ok || n != nil && n.date {
		return fmt.Errorf("schema: label %s: written as %q", s.Label.Name, s.Label.Written)
	}
	if l := s.Label; l.Clip != nil && !l.Clip.valid() || l.Scale != nil && !l.Scale.valid() {
		return fmt.Errorf("schema: label %s: clip %v, scale %v", l.Name, l.Clip, l.Scale)
	}
	if width == 0 || width > maxWidth {
		return fmt.Errorf("schema: %d values a row: want 1 to %d", width, maxWidth)
	}
	if want := s.sampleShape(width); !slices.Equal(s.Shape, want) {
		return fmt.Errorf("schema: samples of shape %v, and the columns make %v", s.Shape, want)
	}
	return nil
}

func (c Column) check() error {
	width := 1
	for _, d := range c.Shape {
		if d < 1 || d > maxWidth/width {
			return fmt.Errorf("shape %v: want 1 to %d values", c.Shape, maxWidth)
		}
		width *= d
	}
	_, written := newNotation(c.Written)
	switch {
	case !written || c.Written != "" && (len(c.Shape) > 0 || len(c.Categories) > 0 || c.Text != nil):
		return fmt.Errorf("written as %q", c.Written)
	case c.Text != nil && (len(c.Shape) > 0 || len(c.Categories) > 0 || c.Clip != nil || c.Scale != nil || c.Missing != nil):
		return fmt.Errorf("texts have no shape, categories, clip, scale or missing")
	case c.Text != nil && !c.Text.valid():
		return fmt.Errorf("texts of %d tokens: want %d to %d", c.Text.Length, minTextLength, maxTextLength)
	case len(c.Categories) > 0 && (len(c.Shape) > 0 || c.Clip != nil || c.Scale != nil):
		return fmt.Errorf("categories are neither clipped nor scaled, and have no shape")
	case len(c.Categories) > maxWidth:
		return fmt.Errorf("%d categories", len(c.Categories))
	case c.Clip != nil && !c.Clip.valid():
		return fmt.Errorf("clip %v", *c.Clip)
	case c.Scale != nil && !c.Scale.valid():
		return fmt.Errorf("scale %v", *c.Scale)
	}
	if err := checkList("categories", c.Categories); err != nil {
		return err
	}
	return c.checkMissing()
}

// sampleShape returns the shape of one sample: the shape of the only column if it has one, else one axis.
func (s *Schema) sampleShape(width int) []int {
	if len(s.Columns) == 1 && len(s.Columns[0].Shape) > 0 {
		return s.Columns[0].Shape
	}
	return []int{width}
}

// listed lists the first 20 names for an error.
func listed(names []string) string {
	const most = 20
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}
