package compile

import (
	"cmp"
	"maps"
	"slices"
)

// Plan lays buffers out in one arena of floats and one of indices. Offsets and sizes count elements of
// one sample; an engine that takes B samples at once multiplies them by B. Buffers whose lives don't
// overlap share space, and an elementwise instruction writes over its first operand where nobody reads
// that again: its kernels must allow it.
type Plan struct {
	Offset  map[ID]int
	Floats  int
	Indices int
}

// align keeps every buffer on a cache line whatever the number of samples.
const align = 16

// inPlace tells whether an instruction's result may take its first operand's place.
func (in Instruction) inPlace() bool {
	switch in.Op {
	case Unary, Binary, BinaryScalar, UnaryBack, BinaryBack, ScalarBack:
		return !in.Accumulate
	}
	return false
}

// Reads returns the buffers that an instruction needs, which is not all that it names: derivatives
// that don't read an operand let it go.
func (in Instruction) Reads() []ID {
	ids := slices.Clone(in.In)
	f := in.Func
	switch in.Op {
	case UnaryBack:
		ids = ids[:1]
		if f.needsX() {
			ids = append(ids, in.In[1])
		}
		if f.needsY() {
			ids = append(ids, in.In[2])
		}
	case BinaryBack, ScalarBack:
		switch f {
		case Add, Sub:
			ids = ids[:1]
		case Mul:
			if in.Op == ScalarBack {
				ids = ids[:1]
			} else {
				ids = []ID{in.In[0], in.In[2-in.Side]}
			}
		}
	}
	if in.Accumulate {
		ids = append(ids, in.Out)
	}
	if in.Aux != None && (in.Op == GradConv || in.Op == MaxPoolBack) {
		ids = append(ids, in.Aux)
	}
	return ids
}

// writes returns the buffers that an instruction gives a value.
func (in Instruction) writes() []ID {
	if in.Aux != None && in.Op != GradConv && in.Op != MaxPoolBack {
		return []ID{in.Out, in.Aux}
	}
	return []ID{in.Out}
}

type life struct {
	id         ID
	size       int
	start, end int
}

// plan lays out the buffers of a list of instructions; keep names what must survive to its end.
func (p *Program) plan(code []Instruction, keep []ID) Plan {
	lives := map[ID]*life{}
	for at, in := range code {
		for _, id := range in.writes() {
			if lives[id] == nil {
				lives[id] = &life{id: id, size: roundUp(p.Values[id].Size), start: at, end: at}
			}
			lives[id].end = at
		}
		for _, id := range in.Reads() {
			p.extend(lives, id, at)
		}
	}
	for _, id := range keep {
		p.extend(lives, id, len(code))
	}
	plan := Plan{Offset: map[ID]int{}}
	// An in-place result takes over its operand's space, so the two are laid out as one.
	home := map[ID]ID{}
	for at, in := range code {
		if !in.inPlace() || lives[in.Out].start != at {
			continue
		}
		x := in.In[0]
		if h, ok := home[x]; ok {
			x = h
		}
		l := lives[x]
		if l == nil || p.Values[x].Kind != Buffer || l.size != lives[in.Out].size || l.end != at || slices.Contains(in.In[1:], in.In[0]) {
			continue
		}
		l.end = max(at, lives[in.Out].end)
		home[in.Out] = x
	}
	var order []*life
	for _, id := range slices.Sorted(maps.Keys(lives)) {
		l := lives[id]
		if _, moved := home[id]; moved {
			continue
		}
		if p.Values[id].Kind == Indices {
			plan.Offset[id] = plan.Indices
			plan.Indices += l.size
			continue
		}
		order = append(order, l)
	}
	slices.SortFunc(order, func(a, b *life) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.size, a.size), cmp.Compare(a.id, b.id))
	})
	var placed []*life
	for _, l := range order {
		plan.Offset[l.id] = fit(placed, plan.Offset, l)
		plan.Floats = max(plan.Floats, plan.Offset[l.id]+l.size)
		placed = append(placed, l)
	}
	for id, h := range home {
		plan.Offset[id] = plan.Offset[h]
	}
	return plan
}

// extend makes a value live until an instruction; an input lives from before the first one.
func (p *Program) extend(lives map[ID]*life, id ID, at int) {
	if id == None {
		return
	}
	if p.Values[id].Kind == Input && lives[id] == nil {
		lives[id] = &life{id: id, size: roundUp(p.Values[id].Size), start: -1}
	}
	if l := lives[id]; l != nil {
		l.end = at
	}
}

// fit returns the lowest offset at which l overlaps nothing that lives at the same time.
func fit(placed []*life, offset map[ID]int, l *life) int {
	var busy [][2]int
	for _, o := range placed {
		if o.start <= l.end && l.start <= o.end {
			busy = append(busy, [2]int{offset[o.id], offset[o.id] + o.size})
		}
	}
	slices.SortFunc(busy, func(a, b [2]int) int { return cmp.Compare(a[0], b[0]) })
	at := 0
	for _, b := range busy {
		if at+l.size <= b[0] {
			break
		}
		at = max(at, b[1])
	}
	return at
}

func roundUp(n int) int { return (n + align - 1) / align * align }
