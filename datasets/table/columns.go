package table

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// exampleColumns is the example in errors and help.
const exampleColumns = `age:number:0..120,sex:F|M,job:a|b|*,income:0|1`

// ParseColumns returns the options that a list of columns describes, in the order of the list, for [SchemaOf]:
//
//	age:number:0..120         numbers, clipped to that range and scaled so that it becomes about -1.7 to 1.7
//	mass:number:0..80:missing=27  the same, where 27 stands for missing ones, and a value behind it says which were
//	x:number[28x28]:0..255    numbers of that shape, such as an array of an NPZ file
//	sex:F|M                   categories; * at the end stands for all others, an empty one for a missing value
//	review:text               texts, which are learned from alone
//	id:ignore                 a column to leave out
//
// The column called label has classes, as in income:0|1, or is a number to regress on, as in price:number:0..5000.
// Names and categories that contain a comma, a colon, a bar or a quote are written in quotes, as in CSV: "a ""b"", c".
// The error is an [*OptionError] about the option columns, and names the column.
func ParseColumns(text, label string) (Options, error) {
	o := Options{
		Label: label, Categories: map[string][]string{}, Missing: map[string]Missing{},
		Clip: map[string][2]float64{}, Scale: map[string][2]float64{}, Shapes: map[string][]int{},
	}
	if label == "" {
		return o, optionf("label", "name the column that holds the labels")
	}
	s := columnScanner{rest: text}
	seen := map[string]bool{}
	for more := true; more; {
		parts, next, err := s.column()
		if err != nil {
			return o, err
		}
		if more = next; !more && len(seen) > 0 && len(parts) == 1 && slices.Equal(parts[0], columnPart{{}}) {
			break // a comma behind the last column
		}
		name := parts[0].text()
		switch {
		case name == "" || len(parts[0]) > 1:
			return o, optionf("columns", "column %d has no name, or a bar in it; write %s", len(seen)+1, exampleColumns)
		case seen[name]:
			return o, optionf("columns", "%s stands twice", name)
		}
		seen[name] = true
		if err := o.add(name, parts[1:]); err != nil {
			return o, err
		}
	}
	if !seen[label] {
		return o, optionf("columns", "the label %s isn't among them; add it, as in %s:0|1 or %[1]s:number:0..100", label, label)
	}
	_, err := SchemaOf(o)
	return o, err
}

// add adds the column that the parts after its name describe.
func (o *Options) add(name string, parts []columnPart) error {
	wrong := func(format string, args ...any) error { return optionf("columns", name+": "+format, args...) }
	isLabel := name == o.Label
	kinds := "number:LOW..HIGH, as number:0..120; categories, as a|b|*; text; or ignore"
	if isLabel {
		kinds = "classes, as 0|1; or number:LOW..HIGH, as number:0..5000"
	}
	if len(parts) == 0 {
		return wrong("nothing about it; write behind a colon one of: %s", kinds)
	}
	kind := parts[0]
	switch word := kind.word(); {
	case word == "ignore" && isLabel:
		return wrong("the label can't be ignored; write %s", kinds)
	case word == "ignore" && len(parts) == 1:
		o.Ignore = append(o.Ignore, name)
		return nil
	case word == "text" && len(parts) == 1 && !isLabel:
		if o.Text != "" {
			return wrong("texts, as %s has; one column has them", o.Text)
		}
		o.Columns, o.Text = append(o.Columns, name), name
		return nil
	case word == "number" || strings.HasPrefix(word, "number["):
		o.Columns = append(o.Columns, name)
		return o.addNumbers(name, strings.TrimPrefix(word, "number"), parts[1:])
	case len(parts) > 1:
		return wrong("%q isn't number; if it is a category with a colon, put that in quotes", kind.text())
	case len(kind) < 2:
		return wrong("%q is a single category; write one of: %s", kind.text(), kinds)
	}
	o.Columns = append(o.Columns, name)
	list := kind.texts()
	if isLabel {
		if slices.Contains(list, "") || slices.Contains(list, All) {
			return wrong("a class must be written out: a label can't be missing or another; write %s", kinds)
		}
		o.Task, o.Classes = Classification, list
		if err := checkClasses(list); err != nil {
			return wrong("%v", err)
		}
		return nil
	}
	o.Categories[name] = list
	if err := checkList("categories", list); err != nil {
		return wrong("%v", err)
	}
	return nil
}

// addNumbers adds a column of numbers, from the shape after the word number and the parts after the shape.
func (o *Options) addNumbers(name, shape string, parts []columnPart) error {
	wrong := func(format string, args ...any) error { return optionf("columns", name+": "+format, args...) }
	if shape != "" {
		lengths, ok := parseShape(shape)
		if !ok || name == o.Label {
			return wrong("number%s: want a shape such as number[28x28], and none for the label", shape)
		}
		o.Shapes[name] = lengths
	}
	if len(parts) == 0 {
		return wrong("no range; write %s:number:LOW..HIGH with public bounds, as number:0..120: values beyond them are clipped", name)
	}
	r, ok := parseRange(parts[0].word())
	if !ok {
		return wrong("range %q; write LOW..HIGH with a lowest and a higher highest value, as 0..120 or -1.5..1.5", parts[0].text())
	}
	if len(parts) > 1 {
		fill, given := strings.CutPrefix(parts[1].word(), "missing")
		m := Missing{Fill: r.Low/2 + r.High/2, Indicator: shape == ""}
		if fill, ok := strings.CutPrefix(fill, "="); ok {
			m.Fill, given = parse(fill)
		} else if fill != "" {
			given = false
		}
		if !given || len(parts) > 2 || name == o.Label {
			return wrong("%q behind its range; there may be missing=40, with a number for missing ones, and nothing for the label", parts[1].text())
		}
		o.Missing[name] = m
	}
	o.Clip[name], o.Scale[name] = [2]float64{r.Low, r.High}, r.spread()
	if scale := o.Scale[name]; !(Scale{scale[0], scale[1]}).valid() {
		return wrong("range %q is too wide or too narrow; write another unit's", parts[0].text())
	}
	if name == o.Label {
		o.Task = Regression
	}
	return nil
}

// spread returns a shift and a divisor that give values uniform in the range mean 0 and deviation 1.
func (r Range) spread() [2]float64 {
	return roundedScale(r.Low/2+r.High/2, (r.High/2-r.Low/2)/math.Sqrt(3))
}

func parseRange(text string) (Range, bool) {
	low, high, ok := strings.Cut(text, "..")
	r := Range{}
	var first, second bool
	r.Low, first = parse(low)
	r.High, second = parse(high)
	return r, ok && first && second && r.valid() && !strings.HasPrefix(high, ".") // 0...120 is a slip, and no .120
}

// parseShape parses a shape such as [28x28].
func parseShape(text string) (shape []int, ok bool) {
	text, closed := strings.CutSuffix(strings.TrimPrefix(text, "["), "]")
	for length := range strings.SplitSeq(text, "x") {
		n, err := strconv.ParseUint(length, 10, 24)
		if err != nil || n == 0 || len(shape) == maxAxes {
			return nil, false
		}
		shape = append(shape, int(n))
	}
	return shape, closed
}

// columnPart is a part of a column's description between colons: one or several alternatives between bars.
type columnPart []alternative

type alternative struct {
	text   string
	quoted bool
}

// word returns the part if it may be a word of the syntax, otherwise "": a quoted text is always a name.
func (p columnPart) word() string {
	if len(p) == 1 && !p[0].quoted {
		return p[0].text
	}
	return ""
}

func (p columnPart) texts() []string {
	out := make([]string, len(p))
	for i, a := range p {
		out[i] = a.text
	}
	return out
}

func (p columnPart) text() string { return strings.Join(p.texts(), "|") }

// columnScanner splits a list of columns.
type columnScanner struct {
	rest string
	n    int // columns read
}

// alternativePattern matches a text up to the next separator, without the blanks around it: in quotes or without.
var alternativePattern = regexp.MustCompile(`^\s*(?:("(?:[^"]|"")*")|([^",:|]*?))\s*([,:|]|$)`)

// column returns the parts of the next column, the name first, and whether a comma follows.
func (s *columnScanner) column() (parts []columnPart, more bool, err error) {
	s.n++
	part := columnPart{}
	for {
		m := alternativePattern.FindStringSubmatch(s.rest)
		if m == nil {
			return nil, false, optionf("columns", `column %d: a quote isn't closed, or isn't around the whole text; begin and end a text that has a quote with one, and write it twice inside: "5"" pipe"`, s.n)
		}
		quoted, text, separator := m[1], m[2], m[3]
		if quoted != "" {
			text = strings.ReplaceAll(quoted[1:len(quoted)-1], `""`, `"`)
		}
		part = append(part, alternative{strings.TrimSpace(text), quoted != ""})
		s.rest = s.rest[len(m[0]):]
		switch separator {
		case ":":
			parts, part = append(parts, part), columnPart{}
		case ",", "":
			return append(parts, part), separator == ",", nil
		}
	}
}
