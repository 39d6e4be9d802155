package cuda

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/cuda/internal/driver"
	"github.com/dptrain/dptrain/cuda/internal/emulator"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/enginetest"
)

// The device sees it if threads don't wait where they must; and in these graphs they wait nowhere else: with any one of
// their waits left out, a thread reads what another hasn't written, or writes what it still reads.
func TestWaitsAreNeeded(t *testing.T) {
	l := kernelsOrSkip(t)
	for _, name := range []string{"residual", "weight and its transpose", "rectifier", "two rows within a sample", "transposed within a sample",
		poolGraph, stridedGraph, "the same filter twice", softmaxGraph, "two binary cross-entropies"} {
		p := enginetest.Zoo()[name].Program(t, 2)
		data := enginetest.RandomData(p, 30, 2)
		code, err := lower(p)
		if err != nil {
			t.Fatal(err)
		}
		waits := 0
		for at := 0; at < len(code.gradient.code); at += words {
			if code.gradient.code[at+wordWait] == 0 {
				continue
			}
			waits++
			hasty := *code
			hasty.gradient.code = slices.Clone(code.gradient.code)
			hasty.gradient.code[at+wordWait] = 0
			if err := walked(t, l, &hasty, data); err == nil {
				t.Errorf("%s: nobody needs the wait before instruction %d", name, at/words)
			}
		}
		if err := walked(t, l, code, data); err != nil || waits == 0 {
			t.Errorf("%s, with all %d waits: %v", name, waits, err)
		}
	}
}

// walked takes samples through a program as it was lowered.
func walked(t *testing.T, l *emulator.Library, code *lowered, data *engine.Data) error {
	t.Helper()
	d, done := device(t, on(l), seeds.Add(1))
	defer done()
	e := newEngine([]driver.Device{d}, "cuda, emulated", emulatedThreads, nil)
	r, err := e.upload(d, code, data)
	if err != nil {
		t.Fatal(err)
	}
	loaded := &loaded{engine: e, code: code, data: data, residents: []*resident{r}}
	defer loaded.Close()
	runs, err := loaded.Start(jobOf(code.Program, engine.LayoutOf(code.Program).Join(code.Initial()), data.Samples))
	if err != nil {
		t.Fatal(err)
	}
	defer runs.Close()
	_, _, err = inspect(runs).ClippedSum(0, everyone(data.Samples))
	return err
}

// Two instructions have a wait between them if two threads may touch one number that one of them writes. A thread has
// every so many elements of all samples of what is elementwise, and may have any of what isn't.
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
		if len(a.writes) > 0 && r.IntN(2) == 0 { // what was written is read
			b.reads = append(b.reads, a.writes[0])
		}
		if len(a.writes) > 0 && r.IntN(4) == 0 { // or written over
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
