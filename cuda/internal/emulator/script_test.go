package emulator

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// What testdata/script can do with a cell.
const (
	doRead = iota + 1
	doWrite
	doAdd
	doReadPair
	doWritePair
)

// access is one of a script.
type access struct {
	block, thread, phase int
	op, cell             int32
}

// races reports by definition whether two accesses race, whatever the order.
func (a access) races(b access, shared bool) bool {
	first, firstEnd := a.words()
	second, secondEnd := b.words()
	switch {
	case first >= secondEnd || second >= firstEnd:
		return false
	case a.block != b.block && shared:
		return false
	case a.block == b.block && (a.thread == b.thread || a.phase != b.phase):
		return false
	}
	reads := func(op int32) bool { return op == doRead || op == doReadPair }
	return (!reads(a.op) || !reads(b.op)) && (a.op != doAdd || b.op != doAdd)
}

func (a access) words() (first, end int32) {
	if a.op >= doReadPair {
		return a.cell &^ 1, a.cell&^1 + 2
	}
	return a.cell, a.cell + 1
}

// The watcher reports races exactly where the definition has them, on random scripts.
func TestWatcherAgreesWithDefinition(t *testing.T) {
	const cells, phases, turns = 16, 3, 2
	l := library(t, "script")
	random := rand.New(rand.NewPCG(3, 4))
	d := device(t, l, 5)
	memory := upload(t, d, make([]int32, cells)...)
	racy := map[bool]int{}
	for range 3000 {
		shared := random.IntN(2) == 0
		blocks, threads := 1+random.IntN(3), 1+random.IntN(5)
		share := random.Float64() * 0.5 // of turns with an access
		kinds := 1 + random.IntN(doWritePair)
		if shared {
			kinds = min(kinds, doAdd)
		}
		ops := make([]int32, blocks*threads*phases*turns*2)
		var all []access
		for i := 0; i < len(ops); i += 2 {
			if random.Float64() >= share {
				continue
			}
			thread := i / (2 * phases * turns)
			a := access{block: thread / threads, thread: thread % threads, phase: i / (2 * turns) % phases}
			a.op, a.cell = int32(1+random.IntN(kinds)), int32(random.IntN(cells))
			ops[i], ops[i+1] = a.op, a.cell
			all = append(all, a)
		}
		want := false
		for i, a := range all {
			for _, b := range all[:i] {
				want = want || a.races(b, shared)
			}
		}
		racy[want]++

		table := upload(t, d, ops...)
		var err error
		if shared {
			err = d.Launch("script_shared", blocks, threads, table, int32(phases), int32(turns))
		} else {
			err = d.Launch("script_global", blocks, threads, table, int32(phases), int32(turns), memory, memory)
		}
		if err != nil && !strings.Contains(err.Error(), ": race") || (err != nil) != want {
			t.Fatalf("%d blocks of %d threads, shared %v, %v: error %v, race %v", blocks, threads, shared, all, err, want)
		}
		if err := d.Free(table); err != nil {
			t.Fatal(err)
		}
	}
	if racy[false] < 500 || racy[true] < 500 {
		t.Errorf("scripts without and with races: %v: too few to tell", racy)
	}
}
