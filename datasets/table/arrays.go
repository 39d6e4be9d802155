package table

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// ArrayOf returns the array of which a name such as x[3] means a value, or "" for another name.
func ArrayOf(name string) string {
	rest, ok := strings.CutSuffix(name, "]")
	if i := strings.LastIndexByte(rest, '['); ok && i > 0 {
		if _, err := strconv.ParseUint(rest[i+1:], 10, 24); err == nil {
			return rest[:i]
		}
	}
	return ""
}

// arraysOf returns the arrays of which some names mean values.
func arraysOf(names []string) map[string]bool {
	arrays := map[string]bool{}
	for _, name := range names {
		arrays[ArrayOf(name)] = true
	}
	delete(arrays, "")
	return arrays
}

// split makes a field of each value of an array of one axis if one of the names is such a value's: x[0], x[1] and so on
// in place of x. An array of which no value is named stays as it is.
func split(fields []field, names []string) []field {
	arrays, out := arraysOf(names), make([]field, 0, len(fields))
	for _, f := range fields {
		if len(f.shape) != 1 || !arrays[f.name] {
			out = append(out, f)
			continue
		}
		for i := range f.shape[0] {
			part := f
			part.name, part.shape = fmt.Sprintf("%s[%d]", f.name, i), nil
			out = append(out, part)
		}
	}
	return out
}

// named returns the names in the options that mean columns, except for the label and the unit.
func (o Options) named() []string {
	return slices.Concat(o.Ignore, o.Columns, []string{o.Text}, slices.Collect(maps.Keys(o.Categories)),
		slices.Collect(maps.Keys(o.Missing)), slices.Collect(maps.Keys(o.Clip)), slices.Collect(maps.Keys(o.Scale)))
}

// spreads summarise each value of an array of one axis a row.
type spreads []moments

// add adds the values of a row, which may be longer.
func (s spreads) add(row []cell) {
	for i := range s {
		if x, ok := row[i].value(); ok {
			s[i].take(x)
		}
	}
}

// unlike reports whether the values have units of their own, so that one scale for all would lose some of them. Pixels,
// which share a range, are alike, although some at the edges hardly ever leave one end of it.
func (s spreads) unlike() bool {
	const narrow, mostly = 0.1, 0.1
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range s {
		if v.numbers > 0 {
			low, high = min(low, v.low), max(high, v.high)
		}
	}
	varying, wide := 0, 0
	for _, v := range s {
		width := v.high - v.low
		switch {
		case !(width > 0):
			continue
		case width >= narrow*(high-low):
			wide++
		case min(v.mean-low, high-v.mean) > mostly*width:
			return true
		}
		varying++
	}
	return 2*wide < varying
}
