package sketch

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// of returns the sketch of rows with the given hashes.
func of(hashes ...uint64) Sketch {
	var b Builder
	for _, h := range hashes {
		b.Add(h)
	}
	return b.Sketch()
}

func random(r *rand.Rand, n int) []uint64 {
	hashes := make([]uint64, n)
	for i := range hashes {
		hashes[i] = r.Uint64()
	}
	return hashes
}

func TestShareOfSmallSets(t *testing.T) {
	for name, c := range map[string]struct {
		a, b []uint64
		want float64
	}{
		"the same":                   {[]uint64{1, 2, 3}, []uint64{3, 1, 2}, 1},
		"a part":                     {[]uint64{1, 2}, []uint64{1, 2, 3, 4, 5}, 1},
		"nothing":                    {[]uint64{1, 2}, []uint64{3, 4}, 0},
		"half":                       {[]uint64{1, 2, 3, 4}, []uint64{1, 2, 5, 6}, 0.5},
		"three of one row, and two":  {[]uint64{1, 1, 1, 2}, []uint64{1, 1, 3, 4, 5}, 0.5},
		"no rows":                    {nil, []uint64{1}, 0},
		"neither":                    {nil, nil, 0},
		"the smallest hash":          {[]uint64{0}, []uint64{0, 7}, 1},
		"the largest hash":           {[]uint64{1<<64 - 1, 5}, []uint64{1<<64 - 1, 7}, 0.5},
		"the smaller set's, of rows": {[]uint64{1, 1, 1, 1}, []uint64{1, 2, 3}, 1. / 3},
	} {
		if got := of(c.a...).Share(of(c.b...)); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		if got := of(c.b...).Share(of(c.a...)); got != c.want {
			t.Errorf("%s, the other way round: %v, want %v", name, got, c.want)
		}
	}
}

// Sets that differ in rows that no sketch keeps have different sketches if their sizes differ.
func TestSketchesOfDifferentSizesDiffer(t *testing.T) {
	var b Builder
	for hash := range uint64(Size) {
		b.Add(hash)
	}
	before := b.Sketch()
	if b.Add(Size); before.Equal(b.Sketch()) || !slices.Equal(before.hashes, b.Sketch().hashes) {
		t.Error("one row more is the same set")
	}
}

// A builder keeps the smallest hashes with their numbers, in any order of the rows. The oracle sorts all of them.
func TestBuilderKeepsTheSmallest(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	check := func(rows []uint64) {
		t.Helper()
		n, s := len(rows), of(rows...)
		r.Shuffle(n, func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		if !s.Equal(of(rows...)) {
			t.Error("the order of the rows matters")
		}
		slices.Sort(rows)
		var hashes []uint64
		var counts []int
		for _, h := range rows {
			if len(hashes) > 0 && hashes[len(hashes)-1] == h {
				counts[len(counts)-1]++
				continue
			}
			if len(hashes) == Size {
				break
			}
			hashes, counts = append(hashes, h), append(counts, 1)
		}
		if s.Rows() != n || !slices.Equal(s.hashes, hashes) || !slices.Equal(s.counts, counts) {
			t.Errorf("%d rows, %d hashes, want %d and %d", s.Rows(), len(s.hashes), n, len(hashes))
		}
	}
	for _, n := range []int{0, 1, Size - 1, Size, Size + 1, 3 * Size} {
		for _, different := range []int64{1, 100, Size, 2 * Size, 1 << 40} {
			rows := make([]uint64, n)
			for i := range rows {
				rows[i] = uint64(r.Int64N(different)) * 0x9e3779b97f4a7c15
			}
			check(rows)
		}
	}
	var full []uint64
	for i := range uint64(Size + 1) {
		full = append(full, i)
	}
	check(append(full, Size-1, Size-1, Size)) // the largest hash that is kept, again, and the smallest that isn't
}

// The estimate is within five standard deviations of the true share: this fails with a probability below 1e-5 for a new
// seed, and never for this one.
func TestShareOfLargeSets(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, share := range []float64{0, 0.01, 0.05, 0.3, 1} {
		for _, ratio := range []int{1, 3, 20} {
			small := random(r, 20000)
			large := append(random(r, ratio*len(small)-int(share*20000)), small[:int(share*20000)]...)
			compared := float64(Size) / float64(ratio)
			a, b := of(large...), of(small...)
			got := a.Share(b)
			if other := b.Share(a); other != got {
				t.Errorf("share %v one way, and %v the other", got, other)
			}
			if math.Abs(got-share) > 5*math.Sqrt(share*(1-share)/compared) {
				t.Errorf("share %v of one %d times as large: %v", share, ratio, got)
			}
		}
	}
}

// The chances that the doc comment of Share states, each over 60 pairs of sketches. The sets needn't be made: hashes
// are uniform, and only the m hashes of the smaller set below the larger one's last are compared.
func TestChancesOfDetection(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		ratio, share, want float64
	}{{10, 0.05, 0.999}, {20, 0.05, 0.99}, {100, 0.05, 0.78}, {1000, 1, 0.999}} {
		const pairs = 60
		found := 0.0
		for range pairs {
			var common, small []uint64
			for range poisson(r, Size/c.ratio) {
				h := r.Uint64N(1 << 40)
				small = append(small, h)
				if r.Float64() < c.share {
					common = append(common, h)
				}
			}
			large := common
			for len(large) < Size-1 {
				large = append(large, r.Uint64N(1<<40))
			}
			if of(small...).Share(of(append(large, 1<<40)...)) >= 0.025 {
				found++
			}
		}
		if found/pairs < c.want-4*math.Sqrt(c.want*(1-c.want)/pairs) {
			t.Errorf("%+v: found in %v of %d pairs", c, found, pairs)
		}
	}
}

func poisson(r *rand.Rand, mean float64) int {
	n := 0
	for p := r.ExpFloat64(); p < mean; p += r.ExpFloat64() {
		n++
	}
	return n
}

func TestJSON(t *testing.T) {
	for _, s := range []Sketch{{}, of(), of(1), of(5, 5, 5, 1<<64-1, 0), of(random(rand.New(rand.NewPCG(5, 6)), 3*Size)...)} {
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var back Sketch
		if err := json.Unmarshal(text, &back); err != nil || !back.Equal(s) {
			t.Errorf("%.80s: %v", text, err)
		}
	}
	// Two rows with the hash 1, and one with the hash 256, in little-endian bytes.
	const golden = `{"form":1,"rows":3,"hashes":"AQAAAAAAAAAAAQAAAAAAAA==","counts":{"0":2}}`
	if text, err := json.Marshal(of(256, 1, 1)); err != nil || string(text) != golden {
		t.Errorf("%s, %v, want %s", text, err, golden)
	}
	for _, text := range []string{
		`null`, `1`, `{}`, `{"form":2,"rows":0,"hashes":""}`, `{"form":1,"rows":1,"hashes":""}`, `{"form":1,"rows":-1,"hashes":""}`,
		`{"form":1,"rows":0,"hashes":"","more":1}`, `{"form":1,"rows":1,"hashes":"AQAAAAAA"}`,
		`{"form":1,"rows":2,"hashes":"AQAAAAAAAAA="}`, `{"form":1,"rows":1,"hashes":"AQAAAAAAAAA=","counts":{"0":2}}`,
		`{"form":1,"rows":2,"hashes":"AQAAAAAAAAA=","counts":{"0":2,"1":2}}`, `{"form":1,"rows":2,"hashes":"AQAAAAAAAAA=","counts":{"0":-2}}`,
		`{"form":1,"rows":2,"hashes":"AQAAAAAAAAABAAAAAAAAAA=="}`, `{"form":1,"rows":2,"hashes":"AAEAAAAAAAABAAAAAAAAAA=="}`,
	} {
		var s Sketch
		if err := json.Unmarshal([]byte(text), &s); err == nil && text != "null" {
			t.Errorf("%s is read", text)
		}
	}
}

func FuzzJSON(f *testing.F) {
	f.Add([]byte(`{"form":1,"rows":3,"hashes":"AQAAAAAAAAAAAQAAAAAAAA==","counts":{"0":2}}`))
	f.Add([]byte(`{"form":1,"rows":0,"hashes":""}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var s, back Sketch
		if s.UnmarshalJSON(text) != nil {
			return
		}
		again, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(again, &back); err != nil || !back.Equal(s) || s.Share(back) != 1 && s.Rows() > 0 {
			t.Fatalf("%s: %s, %v", text, again, err)
		}
	})
}

func BenchmarkShare(b *testing.B) {
	r := rand.New(rand.NewPCG(9, 10))
	x, y := of(random(r, 3*Size)...), of(random(r, 3*Size)...)
	for b.Loop() {
		x.Share(y)
	}
}

func BenchmarkAdd(b *testing.B) {
	r := rand.New(rand.NewPCG(7, 8))
	var s Builder
	for b.Loop() {
		s.Add(r.Uint64())
	}
}
