package table

import (
	"slices"
)

// defaultTextLength is the number of tokens of a text if [Options.TextLength] is 0.
const defaultTextLength = 256

// Limits of the texts of a file.
const (
	minTextLength = 2       // tokens: the two at a text's ends
	maxTextLength = 1 << 14 // as of package datasets
	maxTextBytes  = 1 << 34 // of all texts
)

// Text describes a column of texts.
type Text struct {
	Length int `json:"length"` // tokens that a text is cut to, including its two end tokens
}

func (t Text) valid() bool { return t.Length >= minTextLength && t.Length <= maxTextLength }

// Text returns the description of the column of texts, or nil if the schema has no texts.
func (s *Schema) Text() *Text {
	if len(s.Columns) == 1 {
		return s.Columns[0].Text
	}
	return nil
}

// checkText returns an [*OptionError] for a column of texts that has another use as well.
func (o Options) checkText() error {
	switch name := o.Text; {
	case name == "" && o.TextLength != 0:
		return optionf("text", "a length of texts, and no column of texts; name it by --text COLUMN")
	case name == "":
		return nil
	case o.TextLength != 0 && !(Text{o.TextLength}).valid():
		return optionf("text", "%d tokens: want %d to %d", o.TextLength, minTextLength, maxTextLength)
	case name == o.Label:
		return optionf("text", "%s is the label; name the column of texts to learn from", name)
	case name == o.Unit:
		return optionf("text", "%s says whose a row is; name the column of texts to learn from", name)
	case slices.Contains(o.Ignore, name):
		return optionf("text", "%s is ignored; leave it out of one of the two", name)
	case len(o.Shapes[name]) > 0:
		return optionf("shapes", "%s has texts, which are one value a row", name)
	}
	_, categories := o.Categories[o.Text]
	_, missing := o.Missing[o.Text]
	_, clip := o.Clip[o.Text]
	_, scale := o.Scale[o.Text]
	if categories || missing || clip || scale {
		return optionf("text", "%s has texts, which have no categories, missing, clip or scale; leave those out", o.Text)
	}
	return nil
}

// text returns the schema of the column of texts.
func (o Options) text(f field) (Column, error) {
	c := Column{Name: f.name, Text: &Text{Length: o.TextLength}}
	if c.Text.Length == 0 {
		c.Text.Length = defaultTextLength
	}
	if len(f.shape) > 0 {
		return c, &Error{Column: f.name, Problem: "several values a row, and a text is one"}
	}
	return c, nil
}

// checkAlone returns an [*OptionError] for other columns beside a column of texts.
func (o Options) checkAlone(columns []Column) error {
	var others []string
	for _, c := range columns {
		if c.Text == nil {
			others = append(others, c.Name)
		}
	}
	switch {
	case o.Text == "" || len(others) == 0:
		return nil
	case len(others) == len(columns):
		return optionf("text", "%s isn't among the columns to learn from; list it in data.columns", o.Text)
	}
	return optionf("text", "%s is learned from alone, and there are %s too; leave them out by --ignore %s", o.Text, listed(others), flagList(others))
}

// addText appends a row's text. A missing cell is the empty text; NA or None may be a text's words.
func (e *encoder) addText(c *columnReader, v cell) error {
	if v.kind == rawBytes {
		return v.wrong(c.Name, noText)
	}
	text := v.String()
	if v.kind == number && v.missing() {
		text = ""
	}
	if (e.out.N+1)*c.Text.Length > maxValues || len(e.texts)+len(text) > maxTextBytes {
		return problemf("more than %d tokens or %s of texts in the file", maxValues, megabytes(int64(maxTextBytes)))
	}
	var err error
	if e.texts, err = grown(e.texts, len(text), 0); err != nil {
		return err
	}
	e.texts = append(e.texts, text...)
	if e.ends, err = grown(e.ends, 1, e.rows); err != nil {
		return err
	}
	e.ends = append(e.ends, len(e.texts))
	return nil
}

// addTexts gives the samples their texts, once all rows are read.
func (e *encoder) addTexts() error {
	if len(e.ends) == 0 {
		return nil
	}
	const header, token = 24, 8 // bytes
	if err := checkMemory(int64(len(e.ends)) * (header + token*int64(e.columns[0].Text.Length))); err != nil {
		return err
	}
	e.out.Texts = make([][]byte, len(e.ends))
	from := 0
	for i, end := range e.ends {
		e.out.Texts[i], from = e.texts[from:end:end], end
	}
	return nil
}
