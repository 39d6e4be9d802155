package table

import (
	"hash/maphash"
	"math"
	"slices"
)

// Overlap counts the rows that a public file shares with a private one. Its fields are private statistics, which the
// guarantee doesn't cover.
type Overlap struct {
	Private  int // rows of the private file
	Public   int // rows of the public file
	Distinct int // different rows of the public file
	Shared   int // public rows that equal a private row in every value and in the label
	// Chance is an upper bound on the share of public rows that would equal a private row if the files were
	// independent. It is the share of private rows that equal another private row, plus the uncertainty of that share.
	Chance float64
	Copy   bool // whether the files hold the same rows in the same order, which chance doesn't explain

	Repeated Repeats // in the private file
}

// Repeats counts the rows of a file that equal another of its rows in every value and in the label.
type Repeats struct {
	Rows        int // that equal another one
	Different   int // among these
	Least, Most int // how often each of these occurs
}

// fewRows is the minimum number of different rows for which chance can't explain the same order in two files.
const fewRows = 5

// rare is the probability below which chance explains nothing.
const rare = 1e-3

// All reports whether all public rows are private rows, and chance doesn't explain it. Equal public rows count once,
// since one of them is a private row if and only if all of them are. A small private file may have no equal rows by
// luck, so All adds the share of two rows to Chance.
func (o Overlap) All() bool {
	chance := min(1, o.Chance+2/float64(o.Private))
	return o.Copy || o.Shared == o.Public && math.Pow(chance, float64(o.Distinct)) < rare
}

// Many reports whether chance can't explain the number of public rows that are private rows: it is more than one, and
// more than four standard deviations above the expected number. The standard deviation includes an uncertainty of
// Chance of one private row, which matters if the public file is several times larger.
func (o Overlap) Many() bool {
	expected, each := o.Chance*float64(o.Public), max(0, float64(o.Public)/float64(o.Private)-2)
	return o.Shared > 1 && float64(o.Shared) > expected+4*math.Sqrt(expected*(1-o.Chance)+each*each)
}

// Overlap compares private samples with public ones. Read the private ones with [Training], the public ones with
// [Testing]. It compares hashes of 64 bits, so two different rows count as equal with probability 2⁻⁶⁴. If either has
// no rows, no row is shared.
func (s *Schema) Overlap(private, public *Samples) Overlap {
	o := Overlap{Private: private.N, Public: public.N}
	if private.N == 0 {
		return o
	}
	seed := maphash.MakeSeed()
	a, b := s.hashes(private, seed), s.hashes(public, seed)
	same := slices.Equal(a, b)
	slices.Sort(a)
	slices.Sort(b)

	o.Repeated = repeats(a)
	repeated := float64(o.Repeated.Rows)
	o.Chance = min(1, (repeated+2*math.Sqrt(repeated)+1)/float64(len(a)))
	for i, h := range b {
		if i == 0 || h != b[i-1] {
			o.Distinct++
		}
		if _, ok := slices.BinarySearch(a, h); ok {
			o.Shared++
		}
	}
	o.Copy = same && o.Distinct >= fewRows
	return o
}

// repeats counts the equal ones among sorted hashes.
func repeats(sorted []uint64) (r Repeats) {
	for from, to := 0, 0; from < len(sorted); from = to {
		for to < len(sorted) && sorted[to] == sorted[from] {
			to++
		}
		if n := to - from; n > 1 {
			if r.Rows += n; r.Different == 0 || n < r.Least {
				r.Least = n
			}
			r.Different, r.Most = r.Different+1, max(r.Most, n)
		}
	}
	return r
}

// hashes returns one hash for each row.
func (s *Schema) hashes(rows *Samples, seed maphash.Seed) []uint64 {
	width := len(rows.Values) / max(1, rows.N)
	out := make([]uint64, rows.N)
	var h maphash.Hash
	h.SetSeed(seed)
	for i := range out {
		h.Reset()
		for _, v := range rows.Values[i*width : (i+1)*width] {
			maphash.WriteComparable(&h, v) // minus zero is zero
		}
		if rows.Texts != nil {
			h.Write(rows.Texts[i])
		}
		if s.Label.Task == Regression {
			maphash.WriteComparable(&h, s.Label.clipped(rows.Numbers[i]))
		} else {
			maphash.WriteComparable(&h, rows.Classes[i])
		}
		out[i] = h.Sum64()
	}
	return out
}

// clipped returns a scaled label as training clips it.
func (l Label) clipped(y float32) float32 {
	if l.Clip == nil {
		return y
	}
	return min(max(y, float32(l.Scale.apply(l.Clip.Low))), float32(l.Scale.apply(l.Clip.High)))
}
