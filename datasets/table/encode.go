package table

import (
	"fmt"
	"strings"

	"github.com/dptrain/dptrain/internal/show"
)

// unknown returns the error of a category that isn't listed.
func (c *columnReader) unknown(v cell) error {
	switch {
	case v.kind == rawBytes:
		return v.wrong(c.Name, noText)
	case v.missing():
		return v.wrong(c.Name, `no category; fill it in, or list "" among the categories for those that are missing`)
	}
	return v.wrong(c.Name, `none of the categories: %s; list "*" for all others, or this one if it is publicly known`, listed(c.Categories))
}

// numbers appends the values of a column of numbers.
func (e *encoder) numbers(c *columnReader, cells []cell) error {
	gap := false
	for i, v := range cells {
		x, ok := v.value()
		if c.missing(v) {
			x, ok, gap = c.Missing.Fill, true, true
		}
		if !ok && c.Written == asDate && v.kind == text && !v.missing() {
			return v.wrong(c.Name, "no date as 2024-12-31; write it so, or ignore the column by --ignore %s", flagList([]string{c.Name}))
		}
		if !ok && c.Written != "" && v.kind == text && !v.missing() {
			return v.wrong(c.Name, "not written as %s, as the settings or the public file say; write it so, or say how numbers are written by --written %s=EXAMPLE, with a decimal sign as in 1,5", c.Written, show.Quoted(c.Name))
		}
		if !ok {
			return noNumber(v, c.position(i), len(c.Shape) == 0)
		}
		near := c.Clip.clip(x)
		if near != x {
			c.beyond++
		}
		y := float32(c.Scale.apply(near))
		if y-y != 0 {
			return v.wrong(c.position(i), "too large for single precision; clip or scale it, as in --clip %s=0,1000", show.Quoted(c.Name))
		}
		e.out.Values = append(e.out.Values, y)
	}
	if c.Missing != nil && c.Missing.Indicator {
		var indicator float32
		if gap {
			indicator = 1
		}
		e.out.Values = append(e.out.Values, indicator)
	}
	return nil
}

// missing reports whether a cell of a column of numbers takes the column's fill.
func (c *columnReader) missing(v cell) bool {
	if c.Missing == nil {
		return false
	}
	if v.missing() {
		return true
	}
	if len(c.words) == 0 {
		return false
	}
	_, ok := c.words[canonical(v)]
	return ok
}

// position names value i of the column by its indices in the shape, such as "x[0,3]".
func (c Column) position(i int) string {
	if len(c.Shape) == 0 {
		return c.Name
	}
	indices := make([]string, len(c.Shape))
	for axis := len(c.Shape) - 1; axis >= 0; axis-- {
		indices[axis] = fmt.Sprint(i % c.Shape[axis])
		i /= c.Shape[axis]
	}
	return fmt.Sprintf("%s[%s]", c.Name, strings.Join(indices, ","))
}

// noNumber returns the error of a cell that isn't a number, with a remedy.
func noNumber(v cell, column string, single bool) error {
	name := show.Quoted(column)
	switch {
	case v.kind == rawBytes:
		return v.wrong(column, noText+", or ignore the column by --ignore %s", flagList([]string{column}))
	case v.missing() && single:
		return v.wrong(column, "no value (empty, NaN, NA or the like); give a public constant for missing ones, as in --missing %s=NUMBER, or leave the row out", name)
	case v.missing():
		return v.wrong(column, "no value (empty, NaN, NA or the like); fill it in, or leave the row out")
	case v.kind == number:
		return v.wrong(column, "not a finite number")
	case single && isDate(v):
		return v.wrong(column, "a date or time; have it read as days since 1970-01-01 by --written %s=date, if it is written as 2024-12-31, or ignore the column by --ignore %[1]s", name)
	case single && measured.MatchString(v.text):
		return v.wrong(column, "not a plain number; say how the file writes numbers by --written %s=EXAMPLE, such as 1,5 or $1.5; if the column holds categories, list them by --categories %[1]s=a,b,c", name)
	case single && (strings.EqualFold(v.text, "true") || strings.EqualFold(v.text, "false")): // 1 and 0 in Parquet
		return v.wrong(column, "true or false, and no number; list both by --categories %s=false,true", name)
	case single:
		return v.wrong(column, `not a number; if the column holds categories, list them by --categories %s=a,b,c; "dptrain data describe" does, from public rows`, name)
	}
	return v.wrong(column, "not a number")
}

func (e *encoder) addLabel(v cell) error {
	class, ok := e.label.index[canonical(v)]
	if !ok && v.missing() {
		return v.wrong(e.label.Name, "no label (empty, NaN, NA or the like); leave the row out")
	}
	if e.label.Task == Regression {
		return e.addNumber(v)
	}
	if !ok {
		return v.wrong(e.label.Name, "its class isn't among %s; list all classes by --classes a,b,c if they are public, or give --task regression for amounts", listed(e.label.Classes))
	}
	var err error
	if e.out.Classes, err = grown(e.out.Classes, 1, e.rows); err != nil {
		return err
	}
	e.out.Classes = append(e.out.Classes, int32(class))
	return nil
}

func (e *encoder) addNumber(v cell) error {
	x, ok := v.value()
	if !ok && v.kind == text {
		return v.wrong(e.label.Name, "not a finite number to regress on; write labels as the public file does, or say how by --written %s=EXAMPLE, such as 1,5 or $1.5", show.Quoted(e.label.Name))
	}
	if !ok {
		return v.wrong(e.label.Name, "not a finite number to regress on")
	}
	if e.label.use == Training {
		x = e.label.Clip.clip(x)
	}
	y := float32(e.label.Scale.apply(x))
	if y-y != 0 {
		return v.wrong(e.label.Name, "too large for single precision; scale it, as in --scale %s=0,1000", show.Quoted(e.label.Name))
	}
	var err error
	if e.out.Numbers, err = grown(e.out.Numbers, 1, e.rows); err != nil {
		return err
	}
	e.out.Numbers = append(e.out.Numbers, y)
	return nil
}
