package compile

import (
	"cmp"
	"slices"
)

// Life is how long a value takes up room.
type Life struct {
	Value ID
	From  int // the first instruction that writes it; -1 for what is there before the first
	To    int // the last instruction that reads or writes it; the number of instructions for what is kept
}

// Lifetimes returns the lives of all values that a list of instructions reads or writes, in the order of From and then
// of Value. keep names values that are read afterwards. It takes any list whose elements say what they read and write,
// so that an engine may ask it of its own form of a program. Values that are read but never written - inputs,
// parameters, constants - live from before the first instruction.
func Lifetimes[I interface {
	Reads() []ID
	Writes() []ID
}](code []I, keep []ID) []Life {
	lives := map[ID]*Life{}
	touch := func(id ID, from, at int) {
		if lives[id] == nil {
			lives[id] = &Life{Value: id, From: from}
		}
		lives[id].To = at
	}
	for at, in := range code {
		for _, id := range in.Reads() {
			touch(id, -1, at)
		}
		for _, id := range in.Writes() {
			touch(id, at, at)
		}
	}
	for _, id := range keep {
		touch(id, -1, len(code))
	}
	out := make([]Life, 0, len(lives))
	for _, l := range lives {
		out = append(out, *l)
	}
	slices.SortFunc(out, compareLives)
	return out
}

// compareLives orders lives as Lifetimes returns them.
func compareLives(a, b Life) int {
	return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Value, b.Value))
}
