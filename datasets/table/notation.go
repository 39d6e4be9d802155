package table

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// asDate says in [Options.Written] that cells are dates, and become days since 1970-01-01.
const asDate = "date"

// notation is how a column's cells of text write its numbers; nil is plainly, as [parse] reads them.
type notation struct {
	date          bool
	decimal       byte   // ',' or '.'; 0: only numbers that make sense with one of them, or are equal with both
	before, after string // around each number, such as $ or mmHg
}

// newNotation returns the notation of numbers that are written like an example: 1,5 or $1.5 or 1,5 mmHg, or 1 or 1 %
// without a decimal sign. It returns false for other texts and for one such as 1,234, which may be two numbers.
func newNotation(example string) (*notation, bool) {
	switch example {
	case "":
		return nil, true
	case asDate:
		return &notation{date: true}, true
	}
	before, core, after := affixes(example)
	n := &notation{before: before, after: after}
	_, ok := n.number(core)
	if strings.ContainsAny(core, ",.") {
		n.decimal = '.'
		if _, point := n.number(core); !point {
			n.decimal = ','
		}
	}
	return n, ok && before != "(" && after != "-" // which may be minuses
}

func notationOf(written string) *notation {
	n, _ := newNotation(written) // whoever set it has checked it
	return n
}

// cell returns a cell of text as the number that it is in the notation, with its text, or as a text that is none.
func (n *notation) cell(v cell) cell {
	if n == nil || v.kind != text {
		return v
	}
	x, ok := n.value(v.text)
	if !ok {
		v.word = true
		return v
	}
	return cell{kind: number, number: x, text: v.text}
}

var dateLayouts = []string{time.DateOnly, time.DateTime, "2006-01-02T15:04:05", time.RFC3339, "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05Z07", "2006-01-02 15:04"}

func (n *notation) value(s string) (float64, bool) {
	if n.date {
		for _, layout := range dateLayouts {
			if t, err := time.Parse(layout, s); err == nil {
				return float64(t.Unix())/86400 + float64(t.Nanosecond())/86400e9, true
			}
		}
		return 0, false
	}
	before, core, after := affixes(s)
	x, ok := n.number(core)
	return x, ok && before == n.before && after == n.after
}

const (
	numerals = "0123456789"
	blanks   = " \u00a0\u202f\u2009"
)

// affixes cuts a text into its number, from the first digit to the last with sign and decimal sign, and what stands
// before and after it. The minus of -$5 is the number's.
func affixes(s string) (before, core, after string) {
	s = strings.ReplaceAll(s, "\u2212", "-")
	first, last := strings.IndexAny(s, numerals), strings.LastIndexAny(s, numerals)+1
	if first < 0 {
		return s, "", ""
	}
	if first > 0 && strings.Contains(".,", s[first-1:first]) {
		first--
	}
	if first > 0 && strings.Contains("+-", s[first-1:first]) {
		first--
	}
	before, core, after = s[:first], s[first:last], strings.TrimSpace(s[last:])
	if rest, minus := strings.CutPrefix(before, "-"); minus && rest != "" {
		before, core = rest, "-"+core // -$-5 is no number
	}
	return strings.TrimSpace(before), core, after
}

// number parses a number without what stands around it. Groups of three digits may be separated by that of comma and
// point which isn't the decimal sign, a blank or an apostrophe, the same one throughout.
func (n *notation) number(s string) (float64, bool) {
	if n.decimal == 0 {
		x, point := (&notation{decimal: '.'}).number(s)
		y, comma := (&notation{decimal: ','}).number(s)
		if !point {
			x = y
		}
		return x, (point || comma) && (point != comma || x == y)
	}
	whole, fraction := s, ""
	if i := strings.IndexByte(s, n.decimal); i >= 0 {
		whole, fraction = s[:i], "."+s[i+1:]
	}
	if i := strings.IndexAny(whole, string(rune(','+'.'-n.decimal))+blanks+"'’"); i >= 0 {
		_, size := utf8.DecodeRuneInString(whole[i:])
		groups := strings.Split(whole, whole[i:i+size])
		groups[0] = strings.TrimLeft(groups[0], "+-")
		if len(groups[0]) == 0 || len(groups[0]) > 3 || groups[0][0] == '0' {
			return 0, false
		}
		for i, group := range groups {
			if i > 0 && len(group) != 3 || strings.Trim(group, numerals) != "" {
				return 0, false
			}
		}
		whole = s[:len(s)-len(strings.TrimLeft(s, "+-"))] + strings.Join(groups, "")
	}
	return parse(whole + fraction)
}

// evidence is what the cells of a public column say about its notation.
type evidence struct {
	numbers, words int
	before, after  string // around all numbers
	many           bool   // whether they have different ones, or there is a list such as 1,2,3: there is no notation
	plain          bool   // whether parse reads all numbers
	// Numbers that have a decimal point for certain, a decimal comma, or either of them, such as 1.234.
	points, commas, open int
	certain              bool   // whether some has it, and not just groups as an IP address has
	sample               string // a number of the last two kinds
}

func (e *evidence) add(v cell) {
	if v.kind != text || v.missing() {
		return
	}
	before, core, after := affixes(v.text)
	x, point := (&notation{decimal: '.'}).number(core)
	y, comma := (&notation{decimal: ','}).number(core)
	signs := strings.ContainsAny(core, ",.")
	switch {
	case !point && !comma || !affixed(before, after) || !signs && attached(v.text, after):
		e.words++
		e.many = e.many || strings.Trim(core, numerals+",.") == "" && before+after == "" && core != ""
		return
	case !signs && strings.Contains(core, " "): // groups such as 1 234, or a list
		return
	case e.numbers == 0:
		e.before, e.after, e.plain = before, after, true
	case before != e.before || after != e.after:
		e.words, e.many = e.words+1, e.many || e.before+e.after != ""
		return
	}
	e.numbers++
	_, plain := parse(v.text)
	e.plain = e.plain && plain
	switch {
	case !comma:
		e.points, e.certain = e.points+1, e.certain || strings.Contains(core, ".")
	case !point:
		e.commas, e.certain, e.sample = e.commas+1, e.certain || strings.Contains(core, ","), v.excerpt()
	case x != y:
		e.open, e.sample = e.open+1, v.excerpt()
	}
}

// attached reports whether letters stand right behind a number's digits, as in 2XL and 4th: without a decimal sign
// they are no unit.
func attached(s, after string) bool {
	first, _ := utf8.DecodeRuneInString(after)
	return unicode.IsLetter(first) && strings.Contains(numerals, s[len(s)-len(after)-1:][:1])
}

// affixed reports whether a number may stand between the two: behind a currency, before a currency, a unit or %, or in
// Excel's mark of a text. Letters before a number are mostly those of names, such as Q1.
func affixed(before, after string) bool {
	switch before {
	case `="`:
		return after == `"`
	case `=("`:
		return after == `")`
	}
	currency := strings.TrimLeftFunc(before, unicode.IsUpper)
	return (before == "" || currency != "" && !strings.ContainsFunc(currency, func(r rune) bool { return !unicode.Is(unicode.Sc, r) })) &&
		!strings.ContainsFunc(after, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.Is(unicode.Sc, r) && !strings.ContainsRune("%‰°/²³ ", r)
		})
}

// mostly reports whether most of the column's texts are numbers.
func (e *evidence) mostly() bool { return !e.many && e.numbers > e.words }

// decimal returns the decimal sign that the column shows for certain, or 0.
func (e *evidence) decimal() byte {
	switch {
	case e.commas > 0 && e.points == 0:
		return ','
	case e.points > 0 && e.commas == 0:
		return '.'
	}
	return 0
}

// habit is the decimal sign that a public file's columns show, or 0 if they show none or both. Where commas separate
// cells it is no comma unless a person says so: such a cell may as well be a list.
type habit struct {
	decimal   byte
	separates bool // whether commas separate cells, or the format does
}

// written returns how a column is written, as in [Options.Written]; "" also for one of texts. A column that doesn't
// show its sign has that of the file. unclear is a number that may be either of two then, or "".
func (h habit) written(e *evidence) (example, unclear string) {
	decimal := h.decimal
	if e.mostly() && e.decimal() != 0 {
		decimal = e.decimal()
	}
	switch {
	case e.numbers == 0 && h.separates, h.separates && decimal == ',' && h.decimal != ',', h.separates && decimal == 0 && e.open > 0:
		return "", ""
	case decimal == 0 && e.open > 0, e.points > 0 && e.commas > 0:
		return "", e.sample
	case e.plain && (decimal == '.' || decimal == 0 && h.separates):
		return "", ""
	}
	n := &notation{decimal: decimal, before: e.before, after: e.after}
	if !e.mostly() {
		n.before, n.after = "", ""
	}
	if decimal == 0 {
		return n.write("1"), ""
	}
	return n.write("1.5"), ""
}

// write returns a plain number as the notation writes it.
func (n *notation) write(number string) string {
	if n.decimal == ',' {
		number = strings.Replace(number, ".", ",", 1)
	}
	after := n.after
	if first, _ := utf8.DecodeRuneInString(after); unicode.IsLetter(first) {
		after = " " + after
	}
	return n.before + number + after
}

// findWritten sets how the fields of a public file are written by the cells of its wanted columns.
func (o Options) findWritten(f *File, fields []field, wanted func(string) bool) error {
	if formatOf(f.path) == ".npz" { // which has no numbers in text
		return nil
	}
	columns := make([]evidence, len(fields))
	h := habit{separates: true}
	err := f.pass(wanted, func(r rows) error {
		if c, ok := r.(*csvRows); ok {
			h.separates = c.csv.Comma == ','
		}
		return each(r, "", func(row []cell) error {
			for i, x := range fields {
				if x.width() == 1 && !slices.Contains(o.Missing[x.name].Words, row[0].text) { // -99 among 1.5 kg
					columns[i].add(row[0])
				}
				row = row[x.width():]
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	shown := map[byte]bool{}
	for i, x := range fields {
		decimal := byte(0)
		if n := notationOf(o.writtenAs(x)); n != nil {
			decimal = n.decimal
		} else if e := columns[i]; e.mostly() && e.certain && (e.points > 0 || !h.separates) && len(o.Categories[x.name]) == 0 {
			decimal = e.decimal()
		}
		if decimal != 0 {
			shown[decimal], h.decimal = true, decimal
		}
	}
	if len(shown) > 1 {
		h.decimal = 0
	}
	for i := range fields {
		x, e := &fields[i], &columns[i]
		_, words := o.Missing[x.name] // for which a column of texts may have numbers
		if x.written = o.writtenAs(*x); x.written != "" || !e.mostly() && !words {
			continue
		}
		var unclear string
		if x.written, unclear = h.written(e); unclear != "" {
			x.unclear = fmt.Sprintf("numbers such as %q, whose sign may be a decimal one or not; say by --written %s=1,5 that the decimal sign is a comma, or by %[2]s=1.5 a point", unclear, x.name)
		}
	}
	return nil
}

// writtenAs returns how the options say that a column is written, or "".
func (o Options) writtenAs(f field) string {
	example, own := o.Written[f.name]
	if !own && len(f.shape) == 0 {
		example = o.Written[All]
	}
	return example
}

func (o Options) checkWritten() error {
	return cmp.Or(
		checkEach(o.Written, func(name, example string) error {
			n, ok := newNotation(example)
			return require(ok && n != nil, "written", "%s: %q; want a number as the file has it, such as 1,5 or $1.5 or 1 %%, or %s", name, example, asDate)
		}),
		require(o.Written[All] != asDate, "written", "dates in all columns; name each"),
		require(o.Written[o.Label] != asDate, "written", "%s is the label; predict a number, such as the days between two dates", o.Label),
	)
}

// notatedRows are rows whose columns of text are written in notations, of which each has a position.
type notatedRows struct {
	rows
	at []int
	by []*notation
}

// notated returns the rows with plain numbers in the columns that are written otherwise.
func notated(r rows, written map[string]string) rows {
	n, at := &notatedRows{rows: r}, 0
	for _, x := range r.fields() {
		if by := notationOf(written[x.name]); by != nil && x.width() == 1 {
			n.at, n.by = append(n.at, at), append(n.by, by)
		}
		at += x.width()
	}
	if len(n.at) == 0 {
		return r
	}
	return n
}

func (n *notatedRows) next() ([]cell, error) {
	row, err := n.rows.next()
	if err == nil {
		for i, at := range n.at {
			row[at] = n.by[i].cell(row[at])
		}
	}
	return row, err
}
