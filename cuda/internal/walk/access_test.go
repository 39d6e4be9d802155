package walk

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Two instructions have a barrier between them if two threads may touch one number that one of them writes. In an
// elementwise instruction a thread has fixed elements of all samples. In other instructions it may have any.
func TestMeets(t *testing.T) {
	const room = 5
	r := rand.New(rand.NewPCG(1, 2))
	word := func(s span, at int) (element int, in bool) {
		element = at - s.from*room
		return element, element >= 0 && element < s.size*room
	}
	threadsDiffer := func(a, b access, x, y span) bool {
		if x.indices != y.indices {
			return false
		}
		for at := range 20 * room {
			i, in := word(x, at)
			j, also := word(y, at)
			if in && also && (!a.elementwise || !b.elementwise || i != j) {
				return true
			}
		}
		return false
	}
	waits := map[bool]int{}
	for range 20000 {
		draw := func() span { return span{r.IntN(4) == 0, r.IntN(8), 1 + r.IntN(4)} }
		spans := func(n int) (out []span) {
			for range r.IntN(n + 1) {
				out = append(out, draw())
			}
			return out
		}
		a := access{spans(2), spans(1), r.IntN(3) > 0}
		b := access{spans(2), spans(1), r.IntN(3) > 0}
		if len(a.writes) > 0 && r.IntN(2) == 0 { // written memory is read
			b.reads = append(b.reads, a.writes[0])
		}
		if len(a.writes) > 0 && r.IntN(4) == 0 { // or overwritten
			b.writes = append(b.writes, a.writes[0])
		}
		must := false
		for _, pair := range [][2][]span{{a.writes, b.writes}, {a.writes, b.reads}, {a.reads, b.writes}} {
			for _, x := range pair[0] {
				for _, y := range pair[1] {
					must = must || threadsDiffer(a, b, x, y)
				}
			}
		}
		got := b.meets(a)
		waits[must]++
		if must && !got {
			t.Fatalf("%+v and then %+v: nobody waits", a, b)
		}
		same := !slices.ContainsFunc(slices.Concat(a.reads, a.writes), func(x span) bool {
			return slices.ContainsFunc(slices.Concat(b.reads, b.writes), func(y span) bool { return x.from == y.from && x.size != y.size })
		})
		if !must && same && got {
			t.Fatalf("%+v and then %+v: threads wait for nothing", a, b)
		}
	}
	if waits[true] < 2000 || waits[false] < 2000 {
		t.Errorf("%v cases with a wait and without: too few to tell", waits)
	}
}
