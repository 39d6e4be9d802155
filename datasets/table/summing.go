package table

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
)

// Bounds of the memory that a description of a file takes.
const (
	maxKept      = 1 << 22 // values kept of all columns, for medians and numbers of different values
	maxKeptOfOne = 1 << 20 // values of one column
	minKept      = 1 << 10
	// maxWords bounds the different texts among numbers that count as words for missing values.
	maxWords = 10
)

// moments summarises numbers one by one. Mean and squares are Welford's.
type moments struct {
	numbers       int
	low, high     float64
	mean, squares float64
}

func (m *moments) take(x float64) {
	if m.numbers == 0 {
		m.low, m.high = x, x
	}
	m.numbers++
	m.low, m.high = min(m.low, x), max(m.high, x)
	d := x - m.mean
	m.mean += d / float64(m.numbers)
	m.squares += d * (x - m.mean)
}

// summing summarises a column value by value.
type summing struct {
	moments
	single         bool // one value a row
	missing, texts int
	fractions      int
	padded         bool            // whether there is a code such as 007
	measured       int             // texts that are a number with a unit or in another notation
	first          cell            // that isn't missing
	text           cell            // the first of the texts
	seen           map[string]int  // rows of each value; at most MaxClasses + 1
	words          map[string]bool // texts; at most maxWords + 1

	// With a single value a row, of the first most values:
	most      int
	kept      []float64           // numbers
	different map[uint64]struct{} // hashes of all values
	counted   int                 // values in different
	longest   int                 // bytes of a text
	// Bytes and words of all texts.
	textBytes, textWords int

	last           float64
	growing, byOne bool // whether each number is larger than the previous one, and by one
	dates          bool // whether all are dates
}

func newSumming(f field, most int) summing {
	s := summing{single: len(f.shape) == 0, most: most, growing: true, byOne: true, dates: true}
	s.seen, s.words, s.different = map[string]int{}, map[string]bool{}, map[uint64]struct{}{}
	return s
}

func (s *summing) add(v cell) {
	if v.missing() {
		s.missing++
		return
	}
	if s.numbers+s.texts == 0 {
		s.first = v
	}
	if len(s.seen) <= MaxClasses { // with more, nothing needs the counts
		s.seen[v.String()]++
	}
	if s.single {
		s.dates = s.dates && isDate(v)
		if s.counted < s.most {
			s.different[v.hash()] = struct{}{}
			s.counted++
		}
	}
	x, ok := v.value()
	if !ok {
		s.addText(v)
		return
	}
	if s.numbers > 0 && s.single {
		s.growing, s.byOne = s.growing && x > s.last, s.byOne && x == s.last+1
	}
	s.last = x
	s.take(x)
	digits := strings.Trim(v.text, `=()"`) // of Excel's ="007"
	s.padded = s.padded || len(digits) > 1 && digits[0] == '0' && !strings.ContainsAny(digits, ".,eE")
	if s.single && len(s.kept) < s.most {
		s.kept = append(s.kept, x)
	}
	if x != math.Trunc(x) {
		s.fractions++
	}
}

func (s *summing) addText(v cell) {
	if s.texts == 0 {
		s.text = v
	}
	s.texts++
	if len(s.words) <= maxWords {
		s.words[v.String()] = true
	}
	if measured.MatchString(v.text) {
		s.measured++
	}
	s.textBytes, s.textWords = s.textBytes+len(v.text), s.textWords+len(strings.Fields(v.text))
	s.longest = max(s.longest, len(v.text))
}

func (s *summing) summary(f field) Summary {
	out := Summary{Name: f.name, Shape: f.shape, Missing: s.missing, Problem: f.problem}
	if len(s.seen) <= MaxClasses {
		out.Categories = slices.Collect(maps.Keys(s.seen))
		sortTexts(out.Categories)
		for _, text := range out.Categories {
			out.Counts = append(out.Counts, s.seen[text])
		}
	}
	if s.texts > 0 && s.numbers > 0 {
		out.Texts, out.Text = s.texts, s.text.excerpt()
		if s.amounts() && len(s.words) <= maxWords {
			out.Words = slices.Sorted(maps.Keys(s.words))
		}
	}
	if out.Numbers = s.numbers > 0 && !s.codes() && (s.texts == 0 || len(out.Words) > 0); out.Numbers {
		m := s.moments
		if len(s.kept) > 0 {
			slices.Sort(s.kept)
			marks, others := sentinels(s.kept)
			if len(marks) > 0 {
				out.SentinelRows, m = len(s.kept)-len(others), moments{}
				for _, x := range others {
					m.take(x)
				}
			}
			for _, mark := range marks {
				out.Sentinels = append(out.Sentinels, decimal(mark))
			}
			out.Median = others[(len(others)-1)/2]
		}
		out.Whole = s.fractions == 0
		out.Low, out.High, out.Mean = m.low, m.high, m.mean
		out.Deviation = math.Sqrt(m.squares / float64(m.numbers))
	}
	if s.useless(&out); out.Useless != "" {
		out.Useless = strings.ReplaceAll(out.Useless, "\n", " ")
	}
	return out
}

// sentinels returns the extremes among sorted numbers that probably mark missing ones, such as -999, and the others,
// which still have at least two different numbers.
func sentinels(sorted []float64) (marks, others []float64) {
	for others = sorted; ; {
		low, high := others[0], others[len(others)-1]
		next, last := slices.IndexFunc(others, func(x float64) bool { return x > low }), slices.Index(others, high)
		if next < 0 || next == last {
			return marks, others
		}
		often := func(x float64, n int) bool { return n > 1 && 100*n >= len(sorted) && (x != 0 || 2*n < len(sorted)) }
		isLow := func(above []float64) bool { return often(low, next) && far(low, above) }
		isHigh := func(below []float64) bool { return often(high, len(others)-last) && far(high, below) }
		switch middle := others[next:last]; {
		case isLow(middle) && isHigh(middle): // each is within the spread of the other
			marks, others = append(marks, low, high), middle
		case isLow(others[next:]):
			marks, others = append(marks, low), others[next:]
		case isHigh(others[:last]):
			marks, others = append(marks, high), others[:last]
		default:
			return marks, others
		}
	}
}

// far reports whether a number is further from all sorted others than they are from each other, and is not of their
// tail. Where that is three times as long as the other side of their median, or the median is at an end, or where the
// number isn't four times as far, as 16 after 2, 4 and 8, it must be written as a mark, as -1 or 999.
func far(x float64, others []float64) bool {
	low, high := others[0], others[len(others)-1]
	gap := max(low-x, x-high)
	if gap <= high-low || low == high {
		return false
	}
	median := others[(len(others)-1)/2]
	near, opposite := median-low, high-median // the sides of the median
	if x > high {
		near, opposite = opposite, near
	}
	return x < 0 && low >= 0 || math.Abs(x) > 9 && strings.Trim(decimal(math.Abs(x)), "9") == "" ||
		0 < near && near <= 3*opposite && gap > 4*(high-low)
}

// sortTexts sorts by number if all texts are numbers, else as text.
func sortTexts(texts []string) {
	all := !slices.ContainsFunc(texts, func(text string) bool {
		_, number := parse(text)
		return !number
	})
	slices.SortFunc(texts, func(a, b string) int {
		x, _ := parse(a)
		y, _ := parse(b)
		if all && x != y {
			return cmp.Compare(x, y)
		}
		return strings.Compare(a, b)
	})
}

// amounts reports whether the texts in a column with numbers probably mark missing numbers: most values are numbers,
// and not just a few whole ones, such as 0, 1, 2 and 3+, each of which may be a category.
func (s *summing) amounts() bool {
	if !s.single || s.codes() || 2*s.texts >= s.texts+s.numbers {
		return false
	}
	const few, often = 10, 3
	numbers := len(s.seen) - len(s.words)
	return s.fractions > 0 || numbers > few || numbers*often > s.numbers
}

// codes reports whether the numbers are codes such as 007, which have another meaning, or none, as 7.
func (s *summing) codes() bool { return s.single && s.padded && s.fractions == 0 }
