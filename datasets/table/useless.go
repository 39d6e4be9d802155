package table

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dptrain/dptrain/internal/show"
)

// Minimum numbers of rows for which chance can't explain a pattern.
const (
	fewNumbered = 3  // rows numbered from 0 or 1
	someRows    = 5  // rows numbered from another number
	manyRows    = 20 // rows with values that only grow, or are all different
)

// doses is the number of different amounts that may be categories, as doses such as "5 mg" are.
const doses = 20

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
		out.Useless = fmt.Sprintf("always the same: %s", s.first.excerpt())
	case !s.single && s.text.kind == number:
		out.Useless = fmt.Sprintf("numbers that aren't finite, such as %s; write NaN for missing ones", s.text.excerpt())
	case !s.single && s.texts > 0:
		out.Useless = "an array of texts"
	case !s.single:
	case s.dates && len(s.seen) > 1 && (s.texts > 0 || s.numbers >= minDates):
		out.Useless = fmt.Sprintf("dates or times, such as %s; by --written %s they are read as days since 1970-01-01, if they are written as 2024-12-31", s.first.excerpt(), show.Quoted(out.Name+"=date"))
	case out.Numbers && s.texts == 0:
		out.Useless = s.uselessNumbers(out)
	case out.Numbers:
	case s.prose():
		out.Prose = true
		out.Useless = fmt.Sprintf("texts: %s different values in %s rows; to learn from them alone, ignore all other columns but the label", grouped(len(s.different)), grouped(s.counted))
	case s.amounts():
		out.Useless = fmt.Sprintf("numbers with more than %d different texts among them, such as %s; say how they are written by --written %s=EXAMPLE, such as 1,5 or $1.5, to learn from them", maxWords, s.text.quoted(), show.Quoted(out.Name))
	case s.measured > 0 && s.measured == s.texts && (len(s.different) > doses || s.nameRows()):
		out.Useless = fmt.Sprintf("amounts written as %s; say how by --written %s=EXAMPLE, such as 1,5 or $1.5, to learn from them", s.text.quoted(), show.Quoted(out.Name))
	case s.nameRows():
		what := "ids or names"
		if s.longest > 40 {
			what = "texts"
		}
		out.Useless = fmt.Sprintf("%s: %s different values in %s rows, such as %s", what, grouped(len(s.different)), grouped(s.counted), s.first.quoted())
	case len(out.Categories) == 0:
		out.Useless = fmt.Sprintf("more than %d different texts, such as %s; group them to learn from them", MaxClasses, s.first.quoted())
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

// nameRows reports whether nearly all values are different.
func (s *summing) nameRows() bool {
	return s.numbers+s.texts >= manyRows && float64(len(s.different)) >= nearlyAll*float64(s.counted)
}

// uselessNumbers is useless for a column of numbers alone. It also sets MayBeID.
func (s *summing) uselessNumbers(out *Summary) string {
	first, _ := s.first.value()
	whole, complete, named := s.fractions == 0, s.missing == 0, namesID(out.Name)
	switch n := s.numbers; {
	case whole && complete && s.byOne && (n >= fewNumbered && (first == 0 || first == 1) || n >= someRows):
		return fmt.Sprintf("row numbers, from %s on", decimal(first))
	case whole && complete && s.growing && n >= manyRows:
		return "whole numbers that only grow, as row numbers and times do"
	case whole && s.nameRows() && (named || s.ids()):
		return fmt.Sprintf("ids: %s different numbers in %s rows", grouped(len(s.different)), grouped(s.counted))
	}
	out.MayBeID = whole && (named || s.nameRows() && digits(s.low) >= longID && digits(s.low) == digits(s.high))
	return ""
}

// Numbers of digits.
const (
	longID  = 6 // ids of which so many are written alike, unlike most amounts
	phoneID = 9 // no amount in nearly all cases
)

// ids reports whether whole numbers that are nearly all different are ids, and no amounts. They are in two cases.
//
//   - Amounts would be equal more often: there is too little room between the lowest and the highest. Of n amounts at
//     least n(n-1)/2 pairs divided by that room are equal on average; with 7, none is in one of 1,000 tables.
//   - They all have nearly the same number of digits, 9 or more.
func (s *summing) ids() bool {
	n, equal := float64(s.counted), float64(s.counted-len(s.different))
	pairs := n * (n - 1) / 2 / (s.high - s.low + 1)
	shortest, longest := digits(s.low), digits(s.high)
	return pairs >= 7 && 8*equal <= pairs ||
		shortest >= phoneID && longest <= shortest+1
}

// digits returns the number of digits of a whole number, and 0 for one below 1.
func digits(x float64) int {
	if x < 1 {
		return 0
	}
	return len(strconv.FormatFloat(x, 'f', 0, 64))
}

// namesID reports whether a column's name says that it holds ids or row numbers.
func namesID(name string) bool {
	name = strings.ToLower(strings.TrimSpace(name))
	words := []string{"id", "ids", "index", "key", "uuid", "row", "rowid", "rownames", "row_names", "x1", "unnamed: 0", "__index_level_0__"}
	ends := []string{"_id", "-id", ".id", " id", "_key", "_no", "_nr", "number"}
	return slices.Contains(words, name) || slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(name, end) })
}

// grouped prints a number with commas between thousands.
func grouped(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return grouped(n/1000) + fmt.Sprintf(",%03d", n%1000)
}

// minDates is the minimum number of whole numbers such as 20240131 that can't be dates by chance.
const minDates = 5

// The notations of dates and times that describe recognises.
var (
	dateText = regexp.MustCompile(`^(((18|19|20|21)\d\d[-/](0?[1-9]|1[0-2])([-/]\d\d?)?|\d\d?([-/.]\d\d?[-/.]\d{4}|/\d\d?/\d\d)|(\d\d?[ -])?` +
		`(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*[ -](\d\d?, )?\d{2,4})([T ]|$))?` +
		`(\d\d?:\d\d(:\d\d(\.\d+)?)?( [AP]M)?(Z|[+-]\d\d:\d\d| [A-Z]{3,4})?)?$`)
	dateNumber = regexp.MustCompile(`^(18|19|20|21)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])$`)
)

// measured matches texts such as $1,234.00, 144.4 mmHg and 48%.
var measured = regexp.MustCompile(`^[^\pL\d]{0,3}\d[\d.,' ]*[^\d]{0,8}$`)

func isDate(v cell) bool {
	if _, number := v.value(); number {
		return dateNumber.MatchString(v.String())
	}
	return dateText.MatchString(v.text)
}
