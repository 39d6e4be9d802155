package ptx

import (
	"fmt"
	"slices"
	"strings"
)

// real translates arithmetic of floating-point numbers.
func (o *operation) real() string {
	t := o.kind()
	x := func(i int) string { return o.in(i, t) }
	set := func(format string, arguments ...any) string {
		return o.set(o.operand(0), t, fmt.Sprintf(format, arguments...))
	}
	rounding := strings.Join(o.parts[1:len(o.parts)-1], ".")
	directed := (rounding == "rz" || rounding == "rm" || rounding == "rp") && t == "f32"
	signs := map[string]string{"add": "+", "sub": "-", "mul": "*", "div": "/"}
	switch op := o.parts[0]; op {
	case "add", "sub", "mul", "div":
		if rounding == "rn" {
			return set("%s %s %s", x(1), signs[op], x(2))
		}
		if op == "add" && directed {
			return set("ptx::add_%s(%s, %s)", rounding, x(1), x(2))
		}
	case "fma":
		if rounding == "rn" {
			return set("ptx::fma_rn(%s, %s, %s)", x(1), x(2), x(3))
		}
		if directed {
			return set("ptx::fma_%s(%s, %s, %s)", rounding, x(1), x(2), x(3))
		}
	case "neg", "abs":
		if rounding == "" {
			return set("ptx::%s(%s)", map[string]string{"neg": "negative", "abs": "magnitude"}[op], x(1))
		}
	case "min", "max":
		if rounding == "" {
			return set("ptx::%s_of(%s, %s)", op, x(1), x(2))
		}
	case "sqrt":
		if rounding == "rn" {
			return set("ptx::root(%s)", x(1))
		}
	case "rcp":
		if rounding == "rn" {
			return set("1 / %s", x(1))
		}
		if o.form() == "approx.ftz.f32" {
			return set("ptx::rcp_approx_ftz(%s)", x(1))
		}
	case "ex2":
		switch o.form() {
		case "approx.f32":
			return set("ptx::ex2_approx(%s)", x(1))
		case "approx.ftz.f32":
			return set("ptx::flushed(ptx::ex2_approx(ptx::flushed(%s)))", x(1))
		}
	}
	return o.unknown()
}

// whole translates arithmetic of integers and bits. Sums and products are computed without signs, so that they wrap.
func (o *operation) whole() string {
	t := o.kind()
	u := t.as("b")
	if t == "pred" {
		u = t
	}
	set := func(format string, arguments ...any) string {
		return o.set(o.operand(0), u, fmt.Sprintf(format, arguments...))
	}
	op, form := o.parts[0], strings.Join(o.parts[1:len(o.parts)-1], ".")
	signs := map[string]string{"add": "+", "sub": "-", "and": "&", "or": "|", "xor": "^"}
	bits := t[0] == 'b' || t == "pred"
	switch {
	case (op == "add" || op == "sub") && form == "" && !bits:
		return set("%s(%s %s %s)", types[u], o.in(1, u), signs[op], o.in(2, u))
	case (op == "and" || op == "or" || op == "xor") && form == "" && bits:
		return set("%s(%s %s %s)", types[u], o.in(1, u), signs[op], o.in(2, u))
	case op == "not" && form == "" && bits:
		return set("%s%s", map[bool]string{true: "!", false: "~"}[t == "pred"], o.in(1, u))
	case (op == "mul" || op == "mad") && !bits:
		return o.product(form)
	case (op == "div" || op == "rem") && form == "" && !bits:
		return o.set(o.operand(0), t, fmt.Sprintf("ptx::%s(%s, %s, file, %d)", map[string]string{"div": "quotient", "rem": "remainder"}[op], o.in(1, t), o.in(2, t), o.line))
	case (op == "min" || op == "max") && form == "" && !bits:
		return o.set(o.operand(0), t, fmt.Sprintf("ptx::%s_of(%s, %s)", op, o.in(1, t), o.in(2, t)))
	case op == "neg" && form == "" && t[0] == 's':
		return set("%s(0 - %s)", types[u], o.in(1, u))
	case op == "abs" && form == "" && t[0] == 's':
		return set("%s < 0 ? %s(0 - %s) : %s", o.in(1, t), types[u], o.in(1, u), o.in(1, u))
	case op == "shl" && form == "" && bits, op == "shr" && form == "":
		return o.set(o.operand(0), t, fmt.Sprintf("ptx::%s<%s>(%s, %s)", op, types[t], o.in(1, t), o.in(2, "u32")))
	case op == "shf" && (form == "l.wrap" || form == "r.wrap") && t == "b32":
		return set("ptx::funnel_%s(%s, %s, %s)", o.parts[1], o.in(1, t), o.in(2, t), o.in(3, "u32"))
	case op == "bfi" && form == "" && bits:
		return set("ptx::insert<%s>(%s, %s, %s, %s)", types[t], o.in(1, t), o.in(2, t), o.in(3, "u32"), o.in(4, "u32"))
	case op == "bfe" && form == "" && t[0] == 'u':
		return set("ptx::extract<%s>(%s, %s, %s)", types[t], o.in(1, t), o.in(2, "u32"), o.in(3, "u32"))
	case op == "popc" && form == "" && bits:
		return o.set(o.operand(0), "u32", fmt.Sprintf("uint32_t(__builtin_popcountll(%s))", o.in(1, t)))
	case op == "clz" && form == "" && t == "b32":
		return o.set(o.operand(0), "u32", fmt.Sprintf("ptx::leading_zeros(%s)", o.in(1, t)))
	}
	return o.unknown()
}

// product translates products and multiply-adds of integers: their low half, their high half or all of them.
func (o *operation) product(half string) string {
	t := o.kind()
	to, plus := t.as("b"), ""
	if half == "wide" {
		to = Type(fmt.Sprintf("%c%d", t[0], 2*t.Bits()))
	}
	if !slices.Contains([]string{"lo", "hi", "wide"}, half) || !to.valid() {
		return o.unknown()
	}
	if o.parts[0] == "mad" {
		plus = " + " + o.in(3, to)
	}
	wrapped := to.as("b")
	return o.set(o.operand(0), wrapped, fmt.Sprintf("%s(%s(ptx::product_%s(%s, %s))%s)", types[wrapped], types[wrapped], half, o.in(1, t), o.in(2, t), plus))
}

// convert translates conversions.
func (o *operation) convert() string {
	if len(o.parts) < 3 {
		return o.unknown()
	}
	to, from := Type(o.parts[len(o.parts)-2]), o.kind()
	if !to.valid() {
		return o.unknown()
	}
	d, mode := o.operand(0), strings.Join(o.parts[1:len(o.parts)-2], ".")
	whole := []Type{"s32", "u32", "s64", "u64"}
	switch {
	case !to.float() && !from.float():
		if mode != "" {
			return o.unknown()
		}
		return o.extend(d, to, fmt.Sprintf("%s(%s)", types[to], o.low(o.operand(1), from)))
	case mode == "" && to == "f64" && from == "f32", mode == "rn" && to == "f32" && from == "f64":
		return o.set(d, to, fmt.Sprintf("%s(%s)", types[to], o.in(1, from)))
	case mode == "rn" && to.float() && slices.Contains(whole, from):
		return o.set(d, to, fmt.Sprintf("%s(%s)", types[to], o.in(1, from)))
	case mode == "sat" && to == "f32" && from == "f32":
		return o.set(d, to, fmt.Sprintf("ptx::saturated(%s)", o.in(1, from)))
	case to == from && slices.Contains([]string{"rni", "rzi", "rmi", "rpi"}, mode):
		return o.set(d, to, fmt.Sprintf("ptx::%s(%s)", mode, o.in(1, from)))
	case from.float() && slices.Contains(whole, to) && slices.Contains([]string{"rni", "rzi", "rmi", "rpi"}, mode):
		return o.set(d, to, fmt.Sprintf("ptx::integer<%s>(ptx::%s(%s))", types[to], mode, o.in(1, from)))
	}
	return o.unknown()
}
