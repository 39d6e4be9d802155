package main

import (
	"encoding/binary"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	predicate = regexp.MustCompile(`^@!?U?P\w+\s+`)
	branch    = regexp.MustCompile("^BRA(\\.\\w+)?\\s+(.*, )?`\\((\\.L_x_\\d+)\\)$")
	indirect  = regexp.MustCompile(`^BRX (R\d+)\s`)
	lookup    = regexp.MustCompile(`^LDC (R\d+), c\[0x2\]\[R\d+(?:\+0x([0-9a-f]+))?\]$`)
)

// operation returns an instruction's text without its predicate.
func (i instruction) operation() (text string, conditional bool) {
	text = predicate.ReplaceAllString(i.text, "")
	return text, text != i.text
}

// distance returns how many instructions a branch skips. Its label isn't printed where nvdisasm doesn't print the
// instruction that it goes to.
func (i instruction) distance() int {
	words := i.words[1]<<38 | i.words[0]>>34<<8 | i.words[0]>>16&0xff // of 4 bytes, in 56 bits
	return int(int64(words<<8)>>8) * 4 / bytesEach
}

// successors returns, for each instruction, the instructions that may be executed next. A call comes back.
func (k *kernel) successors() ([][]int, error) {
	tables, err := k.targets()
	if err != nil {
		return nil, err
	}
	out := make([][]int, len(k.code))
	for i, ins := range k.code {
		text, conditional := ins.operation()
		name, _, _ := strings.Cut(text, " ")
		name, _, _ = strings.Cut(name, ".")
		on := true
		switch name {
		case "EXIT", "RET":
			on = conditional
		case "BRX":
			out[i], on = slices.Clone(tables[i]), conditional
		case "BRA":
			m := branch.FindStringSubmatch(text)
			if m == nil {
				return nil, fmt.Errorf("%s, instruction %d: can't read %q", k.name, i, ins.text)
			}
			to := i + 1 + ins.distance()
			if label, ok := k.labels[m[3]]; ok && label != to || to < 0 || to >= len(k.code) {
				return nil, fmt.Errorf("%s, instruction %d: %q goes to instruction %d", k.name, i, ins.text, to)
			}
			out[i], on = []int{to}, conditional || m[1] == ".DIV" || m[2] != ""
		case "JMP", "JMX", "BRXU", "KILL":
			return nil, fmt.Errorf("%s, instruction %d: unknown branch %q", k.name, i, ins.text)
		}
		if on {
			out[i] = append(out[i], i+1)
		}
		out[i] = slices.DeleteFunc(out[i], func(to int) bool { return to >= len(k.code) })
	}
	return out, nil
}

// targets returns where each indirect branch goes to: a table's entries. A table ends where the next one begins.
func (k *kernel) targets() (map[int][]int, error) {
	starts := []int{len(k.tables)}
	from := map[int]int{} // a branch's table
	loaded := map[string]int{}
	for i, ins := range k.code {
		text, _ := ins.operation()
		if m := lookup.FindStringSubmatch(text); m != nil {
			at, err := strconv.ParseInt("0"+m[2], 16, 32)
			if err != nil {
				return nil, err
			}
			loaded[m[1]] = int(at)
			starts = append(starts, int(at))
		} else if m := indirect.FindStringSubmatch(text); m != nil {
			at, ok := loaded[m[1]]
			if !ok {
				return nil, fmt.Errorf("%s, instruction %d: no table for %q", k.name, i, ins.text)
			}
			from[i] = at
		}
	}
	slices.Sort(starts)
	out := map[int][]int{}
	for i, at := range from {
		next, _ := slices.BinarySearch(starts, at+1)
		for ; next < len(starts) && at+4 <= min(starts[next], len(k.tables)); at += 4 {
			to := int(binary.LittleEndian.Uint32(k.tables[at:]))
			if to%bytesEach != 0 || to/bytesEach >= len(k.code) {
				return nil, fmt.Errorf("%s, instruction %d: a branch to address %#x", k.name, i, to)
			}
			out[i] = append(out[i], to/bytesEach)
		}
	}
	return out, nil
}

// loop is a natural loop: the instructions from which the last leads back to the first, through which alone they are
// reached.
type loop struct {
	first, last int
	body        map[int]bool // all instructions
	own         []int        // those that are in no loop inside
	inside      int          // loops inside
	path        []int        // the fewest of its own instructions that lead from the first back to it, or nil
}

// loops returns the loops of a kernel and its subroutines.
func (k *kernel) loops() ([]*loop, error) {
	next, err := k.successors()
	if err != nil {
		return nil, err
	}
	var out []*loop
	for _, entry := range k.entries {
		loops, err := loopsFrom(next, entry)
		if err != nil {
			return nil, fmt.Errorf("%s, %w", k.name, err)
		}
		out = append(out, loops...)
	}
	return out, nil
}

func loopsFrom(next [][]int, entry int) ([]*loop, error) {
	f := flowFrom(next, entry)
	var out []*loop
	for _, first := range f.order {
		l := &loop{first: first, last: -1, body: map[int]bool{first: true}}
		var todo []int
		for _, i := range f.before[first] {
			if f.dominates(first, i) {
				todo = append(todo, i)
				l.last = max(l.last, i)
			} else if f.number[i] <= f.number[first] {
				return nil, fmt.Errorf("instruction %d: a loop with two entries", first)
			}
		}
		if todo == nil {
			continue
		}
		for len(todo) > 0 {
			i := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if !l.body[i] {
				l.body[i] = true
				todo = append(todo, f.before[i]...)
			}
		}
		out = append(out, l)
	}
	slices.SortFunc(out, func(a, b *loop) int { return a.first - b.first })
	for _, l := range out {
		inside := map[int]bool{}
		for _, inner := range out {
			if inner != l && l.body[inner.first] {
				l.inside++
				maps.Copy(inside, inner.body)
			}
		}
		for i := range l.body {
			if !inside[i] {
				l.own = append(l.own, i)
			}
		}
		slices.Sort(l.own)
		l.path = shortest(next, l)
	}
	return out, nil
}

// shortest returns a way of the fewest of a loop's own instructions from its first one back to it, or nil.
func shortest(next [][]int, l *loop) []int {
	from := map[int]int{}
	for todo := []int{l.first}; len(todo) > 0; todo = todo[1:] {
		for _, to := range next[todo[0]] {
			if to == l.first {
				path := []int{todo[0]}
				for path[0] != l.first {
					path = slices.Insert(path, 0, from[path[0]])
				}
				return path
			}
			if _, own := slices.BinarySearch(l.own, to); !own {
				continue
			}
			if _, seen := from[to]; !seen {
				from[to] = todo[0]
				todo = append(todo, to)
			}
		}
	}
	return nil
}

// flow is how control flows from an entry.
type flow struct {
	order     []int         // the instructions that are reached, each after its dominators
	number    map[int]int   // counts them down: their postorder
	before    map[int][]int // from which instructions each is reached
	dominator map[int]int   // each instruction's immediate dominator; the entry's is itself
}

// flowFrom finds dominators as Cooper, Harvey and Kennedy do in "A Simple, Fast Dominance Algorithm".
func flowFrom(next [][]int, entry int) flow {
	f := flow{number: map[int]int{}, before: map[int][]int{}, dominator: map[int]int{entry: entry}}
	type visit struct{ at, edges int }
	seen := map[int]bool{entry: true}
	for stack := []visit{{entry, 0}}; len(stack) > 0; {
		v := &stack[len(stack)-1]
		if v.edges == len(next[v.at]) {
			f.number[v.at] = len(f.order)
			f.order = append(f.order, v.at)
			stack = stack[:len(stack)-1]
			continue
		}
		to := next[v.at][v.edges]
		v.edges++
		f.before[to] = append(f.before[to], v.at)
		if !seen[to] {
			seen[to] = true
			stack = append(stack, visit{to, 0})
		}
	}
	slices.Reverse(f.order)
	for changed := true; changed; {
		changed = false
		for _, i := range f.order[1:] {
			common := -1
			for _, b := range f.before[i] {
				if _, known := f.dominator[b]; !known {
					continue
				}
				if common < 0 {
					common = b
				}
				for b != common {
					if f.number[b] < f.number[common] {
						b = f.dominator[b]
					} else {
						common = f.dominator[common]
					}
				}
			}
			if d, known := f.dominator[i]; !known || d != common {
				f.dominator[i], changed = common, true
			}
		}
	}
	return f
}

// dominates reports whether every way to i leads through d.
func (f flow) dominates(d, i int) bool {
	for i != d && f.dominator[i] != i {
		i = f.dominator[i]
	}
	return i == d
}
