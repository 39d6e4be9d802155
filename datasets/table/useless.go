package table

import (
	"fmt"
	"strings"
	"time"
)

// Minimum numbers of rows for which chance can't explain a pattern.
const (
	fewNumbered = 3  // rows numbered from 0 or 1
	someRows    = 5  // rows numbered from another number
	manyRows    = 20 // rows with values that only grow, or are all different
)

// nearlyAll is the minimum share of different values for which texts are names of their rows.
const nearlyAll = 0.9

// useless sets the reason why a model should not learn from the column, if there is one, and whether its texts are
// prose.
func (s *summing) useless(out *Summary) {
	n := s.numbers + s.texts
	switch {
	case out.Problem != "":
		out.Useless = out.Problem
	case n == 0:
		out.Useless = "every value is missing"
	case len(s.seen) == 1 && s.missing == 0:
		out.Useless = fmt.Sprintf("always %s", s.first.excerpt())
	case !s.single && s.texts > 0:
		out.Useless = "an array of texts"
	case !s.single:
	case s.dates.all():
		out.Useless = fmt.Sprintf("dates or times, such as %s; a number made from them, such as the days since a fixed date, can be learned from", s.first.excerpt())
	case out.Numbers && s.texts == 0:
		out.Useless = s.uselessNumbers(out)
	case out.Numbers:
	case s.prose():
		out.Prose = true
		out.Useless = fmt.Sprintf("texts: %s different values in %s rows; to learn from them alone, give --text %s, and ignore all other columns but the label", grouped(len(s.different)), grouped(s.counted), out.Name)
	case s.decorated && len(s.different) > maxWords:
		out.Useless = fmt.Sprintf("amounts written as %s; write plain numbers, such as 1234.5, to learn from them", s.text.quoted())
	case s.amounts():
		out.Useless = fmt.Sprintf("numbers with more than %d different texts among them, such as %s; write plain numbers to learn from them", maxWords, s.text.quoted())
	case n >= manyRows && float64(len(s.different)) >= nearlyAll*float64(s.counted):
		what := "ids or names"
		if s.longest > 40 {
			what = "texts"
		}
		out.Useless = fmt.Sprintf("%s: %s different values in %s rows, such as %s", what, grouped(len(s.different)), grouped(s.counted), s.first.quoted())
	case len(out.Categories) == 0:
		out.Useless = fmt.Sprintf("%s different texts, such as %s; group them into at most %d categories to learn from them", moreThan(len(s.different), s.counted == n), s.first.quoted(), MaxClasses)
	}
}

// Lower bounds for prose.
const (
	minProse  = 3  // different texts
	longProse = 40 // bytes of a text on average
	manyWords = 5  // words of a text on average; prose has more
)

// prose reports whether a column has texts of several words, of which more than half are different.
func (s *summing) prose() bool {
	return s.single && s.texts > s.numbers && len(s.different) >= minProse && 2*len(s.different) > s.counted &&
		(s.textBytes > longProse*s.texts || s.textWords > manyWords*s.texts) && s.textWords > 2*s.texts
}

// uselessNumbers is useless for a column of numbers alone.
func (s *summing) uselessNumbers(out *Summary) string {
	first, _ := s.first.value()
	whole, complete := s.fractions == 0, s.missing == 0
	namesRows := float64(len(s.different)) >= nearlyAll*float64(s.counted)
	switch n := s.numbers; {
	case whole && complete && s.byOne && (n >= fewNumbered && (first == 0 || first == 1) || n >= someRows):
		return fmt.Sprintf("row numbers, from %s on", decimal(first))
	case whole && complete && s.growing && n >= manyRows:
		return "whole numbers that only grow, as row numbers and times do"
	case whole && namesRows && n >= manyRows && out.NamesID():
		return fmt.Sprintf("ids: %s different numbers in %s rows", grouped(len(s.different)), grouped(s.counted))
	}
	return ""
}

// NamesID reports whether the column's name says that it holds ids or row numbers.
func (s Summary) NamesID() bool {
	name := strings.ToLower(strings.TrimSpace(s.Name))
	for _, word := range []string{"id", "ids", "index", "key", "uuid", "row", "rowid", "rownames", "row_names", "x1", "unnamed: 0", "__index_level_0__"} {
		if name == word {
			return true
		}
	}
	for _, end := range []string{"_id", "-id", ".id", " id", "_key", "_no", "_nr", "number"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// decorated reports whether a text is a number with a currency, a percent sign, separators of thousands or a decimal
// comma.
func decorated(text string) bool {
	stripped := strings.Map(func(r rune) rune {
		if strings.ContainsRune("$€£¥%,_ \u00a0'", r) {
			return -1
		}
		return r
	}, text)
	_, number := parse(stripped)
	_, plain := parse(text)
	return number && !plain
}

func moreThan(n int, exact bool) string {
	if exact {
		return grouped(n)
	}
	return "more than " + grouped(n)
}

// grouped prints a number with commas between thousands.
func grouped(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return grouped(n/1000) + fmt.Sprintf(",%03d", n%1000)
}

// dateLayouts are the notations of dates and times that describe recognises.
var dateLayouts = []string{
	"2006-01-02", "2006/01/02", "01/02/2006", "02/01/2006", "1/2/2006", "2/1/2006", "02.01.2006", "2.1.2006", "01/02/06", "02/01/06", "1/2/06",
	"2006-01-02 15:04", "2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02T15:04", time.RFC3339, "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05 MST",
	"01/02/2006 15:04", "02/01/2006 15:04", "1/2/2006 15:04", "2/1/2006 15:04", "02.01.2006 15:04", "01/02/2006 15:04:05", "02/01/2006 15:04:05", "1/2/2006 3:04:05 PM", "02.01.2006 15:04:05",
	"Jan 2, 2006", "January 2, 2006", "2 Jan 2006", "2 January 2006", "02-Jan-2006", "02-Jan-06", "2006-01", "Jan 2006", "January 2006",
	"15:04", "15:04:05", "3:04 PM",
}

// dateSniffer finds out whether all values of a column are dates.
type dateSniffer struct {
	n       int
	other   bool // whether some value isn't a date
	layouts []string
	varies  bool
	first   cell
}

// minDates is the minimum number of whole numbers such as 20240131 that can't be dates by chance.
const minDates = 5

func (s *dateSniffer) add(v cell) {
	if s.other {
		return
	}
	if s.n == 0 {
		s.first, s.layouts = v, dateLayouts
		if _, number := v.value(); number {
			s.layouts = []string{"20060102"}
		}
	}
	s.n++
	s.varies = s.varies || v.String() != s.first.String()
	text := v.String()
	if len(text) > 40 {
		s.other = true
		return
	}
	var fit []string // dates such as 1/2/2006 fit several notations; later values rule some out
	for _, layout := range s.layouts {
		if t, err := time.Parse(layout, text); err == nil && (t.Year() == 0 || t.Year() >= 1800 && t.Year() <= 2200) {
			fit = append(fit, layout)
		}
	}
	s.layouts, s.other = fit, len(fit) == 0
}

// all reports whether all values are dates, in one notation.
func (s *dateSniffer) all() bool {
	if s.n == 0 || s.other || !s.varies {
		return false
	}
	return s.layouts[0] != "20060102" || s.n >= minDates
}
