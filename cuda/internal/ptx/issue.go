package ptx

import (
	"slices"
	"strings"
)

// Issues returns how many instructions of machine code each instruction takes, about: how often a scheduler of compute
// capability 9.0 issues for it. It follows the machine code that ptxas 11.8 makes of the kernels: predicates are joined
// within comparisons, and moves and the parts of an address vanish. Over the loops of products, for which it was
// counted, the sum of these numbers is within a sixth of the machine code's; elsewhere it is a guess.
func (k *Kernel) Issues() []int {
	products := map[string]bool{} // registers that get a product of 64 bits, to which an address is added
	for _, in := range k.Code {
		if strings.HasPrefix(in.Op, "mul.wide") {
			products[in.Operands[0]] = true
		}
	}
	out := make([]int, len(k.Code))
	for i, in := range k.Code {
		if out[i] = in.issues(); in.Op == "add.s64" && slices.ContainsFunc(in.reads(), func(r string) bool { return products[r] }) {
			out[i] = 1
		}
	}
	return out
}

func (in Instruction) issues() int {
	op, rest, _ := strings.Cut(in.Op, ".")
	double, wide := strings.HasSuffix(rest, "f64"), strings.HasSuffix(rest, "64")
	switch op {
	case "", "mov", "cvta", "shl":
		if op == "shl" && !wide {
			return 1
		}
		return 0
	case "ld", "st", "atom", "red":
		if strings.HasPrefix(rest, "param") {
			return 0
		}
		return 1
	case "div", "rem", "sqrt", "rcp":
		switch {
		case strings.HasPrefix(rest, "approx"):
			return 2
		case double:
			return 30
		case wide:
			return 90
		case strings.HasSuffix(rest, "f32"):
			return 10
		}
		return 20
	case "ex2":
		return 2
	case "mul":
		switch rest {
		case "wide.s32", "wide.u32": // added to an address in one instruction
			return 0
		case "lo.s64":
			return 3
		}
	case "add":
		if rest == "s64" {
			return 2
		}
	case "bra":
		if rest == "uni" {
			return 0
		}
	case "and", "or", "xor", "not":
		if rest == "pred" {
			return 0
		}
	case "cvt":
		if !double && !strings.Contains(rest, "f32") {
			return 0
		}
	}
	if double { // units for double precision take a warp every other cycle
		return 2
	}
	return 1
}
