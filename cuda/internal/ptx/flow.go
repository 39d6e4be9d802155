package ptx

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

var register = regexp.MustCompile(`%\w+(\.x)?`)

// inside returns the registers of an operand.
func inside(operand string) (out []string) {
	for _, r := range register.FindAllString(operand, -1) {
		if !special.MatchString(r) {
			out = append(out, r)
		}
	}
	return out
}

// writesFirst reports whether the instruction's first operand is what it writes.
func (in Instruction) writesFirst() bool {
	op, _, _ := strings.Cut(in.Op, ".")
	return !slices.Contains([]string{"st", "red", "bra", "bar", "barrier", "ret", "exit"}, op)
}

// reads returns the registers that the instruction reads, its guard among them.
func (in Instruction) reads() (out []string) {
	if in.Guard != "" {
		out = append(out, in.Guard)
	}
	for i, x := range in.Operands {
		if i > 0 || !in.writesFirst() {
			out = append(out, inside(x)...)
		}
	}
	return out
}

// writes returns the registers that the instruction writes.
func (in Instruction) writes() []string {
	if len(in.Operands) == 0 || !in.writesFirst() {
		return nil
	}
	return inside(in.Operands[0])
}

// set is a set of registers, a bit for each.
type set []uint64

func (s set) add(i int)      { s[i/64] |= 1 << (i % 64) }
func (s set) has(i int) bool { return s[i/64]>>(i%64)&1 == 1 }

// meet takes the registers that aren't in t out of s, and reports whether there were any.
func (s set) meet(t set) (changed bool) {
	for i := range s {
		if both := s[i] & t[i]; both != s[i] {
			s[i], changed = both, true
		}
	}
	return changed
}

// Unset returns the places at which some path reads a register before it writes it: a card would go on with whatever
// the register holds.
func (k *Kernel) Unset() (out []string) {
	if len(k.Code) == 0 {
		return nil
	}
	numbers := map[string]int{}
	for _, r := range slices.Sorted(maps.Keys(k.Registers)) {
		numbers[r] = len(numbers)
	}
	at := map[string]int{}
	for i, in := range k.Code {
		if in.Label != "" {
			at[in.Label] = i
		}
	}
	before := make([]set, len(k.Code)) // the registers that every path here has written
	before[0] = make(set, len(numbers)/64+1)
	for work := []int{0}; len(work) > 0; {
		i := work[len(work)-1]
		work = work[:len(work)-1]
		after := slices.Clone(before[i])
		if in := k.Code[i]; in.Guard == "" {
			for _, r := range in.writes() {
				after.add(numbers[r])
			}
		}
		for _, j := range k.follow(i, at) {
			if before[j] == nil {
				before[j] = slices.Clone(after)
				work = append(work, j)
			} else if before[j].meet(after) {
				work = append(work, j)
			}
		}
	}
	for i, in := range k.Code {
		for _, r := range in.reads() {
			if _, known := k.Registers[r]; before[i] != nil && known && !before[i].has(numbers[r]) {
				out = append(out, fmt.Sprintf("line %d: %s reads %s", in.Line, in.Op, r))
			}
		}
	}
	return out
}

// ends reports whether the instruction jumps or returns.
func (in Instruction) ends() bool {
	return strings.HasPrefix(in.Op, "bra") || in.Op == "ret" || in.Op == "exit"
}

// waits reports whether the instruction waits for the block.
func (in Instruction) waits() bool { return strings.HasPrefix(in.Op, "bar") }

// follow returns the instructions that may come after instruction i.
func (k *Kernel) follow(i int, at map[string]int) (out []int) {
	in := k.Code[i]
	if strings.HasPrefix(in.Op, "bra") && len(in.Operands) == 1 {
		out = append(out, at[in.Operands[0]])
	}
	if (!in.ends() || in.Guard != "") && i+1 < len(k.Code) {
		out = append(out, i+1)
	}
	return out
}
