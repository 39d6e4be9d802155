package compile

import (
	"cmp"
	"slices"
)

// Lifetime is the range of instructions during which a value needs its buffer.
type Lifetime struct {
	Value ID
	From  int // the first instruction that writes it; -1 if it exists before the first
	To    int // the last instruction that reads or writes it; the number of instructions if it is kept
}

// Lifetimes returns the lifetimes of all values that a list of instructions reads or writes, ordered by From and then
// by Value. keep names values that are read after the last instruction. Values that are read and never written, such as
// inputs, parameters and constants, exist before the first instruction. The list may be an engine's own form of a
// program.
func Lifetimes[I interface {
	Reads() []ID
	Writes() []ID
}](code []I, keep []ID) []Lifetime {
	lifetimes := map[ID]*Lifetime{}
	touch := func(id ID, from, at int) {
		if lifetimes[id] == nil {
			lifetimes[id] = &Lifetime{Value: id, From: from}
		}
		lifetimes[id].To = at
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
	out := make([]Lifetime, 0, len(lifetimes))
	for _, l := range lifetimes {
		out = append(out, *l)
	}
	slices.SortFunc(out, func(a, b Lifetime) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Value, b.Value)) })
	return out
}
