package table

import (
	"cmp"
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

// summing summarises a column value by value. Mean and squares are Welford's.
type summing struct {
	single                  bool // one value a row
	missing, numbers, texts int
	fractions               int
	first                   cell // that isn't missing
	text                    cell // the first of the texts
	low, high               float64
	mean, squares           float64
	seen                    map[string]int  // rows of each value; at most MaxClasses + 1
	words                   map[string]bool // texts; at most maxWords + 1

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
	if s.numbers == 0 {
		s.low, s.high = x, x
	} else if s.single {
		s.growing, s.byOne = s.growing && x > s.last, s.byOne && x == s.last+1
	}
	s.last = x
	s.numbers++
	if s.single && len(s.kept) < s.most {
		s.kept = append(s.kept, x)
	}
	if x != math.Trunc(x) {
		s.fractions++
	}
	s.low, s.high = min(s.low, x), max(s.high, x)
	d := x - s.mean
	s.mean += d / float64(s.numbers)
	s.squares += d * (x - s.mean)
}

func (s *summing) addText(v cell) {
	if s.texts == 0 {
		s.text = v
	}
	s.texts++
	if len(s.words) <= maxWords {
		s.words[v.String()] = true
	}
	s.textBytes, s.textWords = s.textBytes+len(v.text), s.textWords+len(strings.Fields(v.text))
	s.longest = max(s.longest, len(v.text))
}

func (s *summing) summary(f field) Summary {
	out := Summary{Name: f.name, Shape: f.shape, Missing: s.missing, Problem: f.problem}
	if len(s.seen) <= MaxClasses {
		for text := range s.seen {
			out.Categories = append(out.Categories, text)
		}
		sortTexts(out.Categories)
		for _, text := range out.Categories {
			out.Counts = append(out.Counts, s.seen[text])
		}
	}
	if s.texts > 0 && s.numbers > 0 {
		out.Texts, out.Text = s.texts, s.text.excerpt()
		if s.amounts() && len(s.words) <= maxWords {
			for w := range s.words {
				out.Words = append(out.Words, w)
			}
			slices.Sort(out.Words)
		}
	}
	if out.Numbers = s.numbers > 0 && (s.texts == 0 || len(out.Words) > 0); out.Numbers {
		out.Whole = s.fractions == 0
		out.Low, out.High, out.Mean = s.low, s.high, s.mean
		out.Deviation = math.Sqrt(s.squares / float64(s.numbers))
		if len(s.kept) > 0 {
			slices.Sort(s.kept)
			out.Median = s.kept[(len(s.kept)-1)/2]
			out.Sentinel = sentinel(s.kept)
		}
	}
	if s.useless(&out); out.Useless != "" {
		out.Useless = strings.ReplaceAll(out.Useless, "\n", " ")
	}
	return out
}

// sentinel returns, as text, a number such as -999 among sorted numbers that probably marks a missing one: it occurs
// more than once, and is further from all others than they are from each other. It returns "" if there is none.
func sentinel(sorted []float64) string {
	usual := []float64{-1, -9, -99, -999, -9999, -99999, 99, 999, 9999, 99999, 999999}
	low, high := sorted[0], sorted[len(sorted)-1]
	second := slices.IndexFunc(sorted, func(x float64) bool { return x > low })
	if second < 0 {
		return ""
	}
	last := slices.Index(sorted, high) // the first of the highest
	switch next, before := sorted[second], sorted[last-1]; {
	case second > 1 && second < last && slices.Contains(usual, low) && low < 0 && next-low > high-next:
		return decimal(low)
	case len(sorted)-last > 1 && second < last && slices.Contains(usual, high) && high > 0 && high-before > before-low:
		return decimal(high)
	}
	return ""
}

// sortTexts sorts by number if all texts are numbers, else as text.
func sortTexts(texts []string) {
	all := true
	for _, text := range texts {
		_, number := parse(text)
		all = all && number
	}
	slices.SortFunc(texts, func(a, b string) int {
		if all {
			x, _ := parse(a)
			y, _ := parse(b)
			if c := cmp.Compare(x, y); c != 0 {
				return c
			}
		}
		return strings.Compare(a, b)
	})
}

// amounts reports whether the texts in a column with numbers probably mark missing numbers: most values are numbers,
// and not just a few whole ones, such as 0, 1, 2 and 3+, each of which may be a category.
func (s *summing) amounts() bool {
	if !s.single || 2*s.texts >= s.texts+s.numbers {
		return false
	}
	const few, often = 10, 3
	numbers := len(s.seen) - len(s.words)
	return s.fractions > 0 || numbers > few || numbers*often > s.numbers
}
