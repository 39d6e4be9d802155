package ptx

import (
	"fmt"
	"strings"
)

// translate returns the C++ of an instruction that isn't a jump.
func (o *operation) translate() string {
	if len(o.parts) == 1 {
		return o.unknown()
	}
	switch o.parts[0] {
	case "mov":
		return o.move()
	case "ld":
		return o.load()
	case "st":
		return o.store()
	case "atom", "red":
		return o.atomic()
	case "cvta":
		// Global addresses are generic ones, and local ones stay local: every access names its space.
		if !o.is("to.global.u64,global.u64,local.u64,to.local.u64") {
			return o.unknown()
		}
		return o.set(o.operand(0), "u64", o.in(1, "u64"))
	case "cvt":
		return o.convert()
	case "setp":
		return o.compare()
	case "selp":
		t := o.kind()
		return o.set(o.operand(0), t, fmt.Sprintf("%s ? %s : %s", o.in(3, "pred"), o.in(1, t), o.in(2, t)))
	case "shfl", "vote", "bar", "barrier":
		return o.together()
	}
	if o.kind().float() {
		return o.real()
	}
	return o.whole()
}

func (o *operation) move() string {
	t := o.kind()
	if len(o.parts) != 2 {
		return o.unknown()
	}
	if from, to := members(o.operand(1)), members(o.operand(0)); len(from) == 2 && t == "b64" {
		return o.set(o.operand(0), t, fmt.Sprintf("uint64_t(%s) | uint64_t(%s) << 32", o.value(from[0], "b32"), o.value(from[1], "b32")))
	} else if len(to) == 2 && t == "b64" {
		return fmt.Sprintf("{ uint64_t x = %s; %s %s }", o.in(1, t), o.set(to[0], "b32", "uint32_t(x)"), o.set(to[1], "b32", "uint32_t(x >> 32)"))
	}
	return o.set(o.operand(0), t, o.in(1, t))
}

// access returns the state space of a load or store, and how many elements it has.
func (o *operation) access() (space string, elements int) {
	t, elements := o.kind(), 1
	rest := o.parts[1 : len(o.parts)-1]
	if n := len(rest); n > 0 && (rest[n-1] == "v2" || rest[n-1] == "v4") {
		elements = int(rest[n-1][1] - '0')
		rest = rest[:n-1]
	}
	if elements*t.Bits() > 128 {
		o.unknown()
	}
	switch space = strings.Join(rest, "."); space {
	case "global", "shared", "local", "param":
	case "global.nc":
		if o.parts[0] != "ld" {
			o.unknown()
		}
		space = "global"
	default:
		o.unknown()
	}
	return space, elements
}

// place returns the C++ of a checked access to bytes at the address of an operand.
func (o *operation) place(space, operand, kind string, bytes int) string {
	a := o.address(operand)
	switch space {
	case "shared":
		a = fmt.Sprintf("ptx::shared_address(%s, shared, sizeof shared / 8, file, %d)", a, o.line)
	case "local":
		return fmt.Sprintf("local.touch(%s, %d, emulated::%s, file, %d)", a, bytes, kind, o.line)
	}
	return fmt.Sprintf("emulated::touch(%s, 0, {%d, %d, emulated::%s}, file, %d)", a, bytes, bytes, kind, o.line)
}

func (o *operation) load() string {
	t := o.kind()
	space, elements := o.access()
	to := members(o.operand(0))
	if len(to) != elements {
		return o.fail("%d registers get %d elements", len(to), elements)
	}
	each := t.Bits() / 8
	var from string
	if space == "param" {
		from = o.parameter(o.operand(1), elements*each)
	} else {
		from = o.place(space, o.operand(1), "Read", elements*each)
	}
	out := fmt.Sprintf("{ const char *from = %s;", from)
	for i, d := range to {
		out += " " + o.extend(d, t, fmt.Sprintf("ptx::read<%s>(from + %d)", types[t], i*each))
	}
	return out + " }"
}

// parameter returns the place of some bytes of a parameter.
func (o *operation) parameter(operand string, bytes int) string {
	found := addressed.FindStringSubmatch(operand)
	for i, p := range o.Parameters {
		if found == nil || p.Name != found[1] {
			continue
		}
		plus := 0
		if found[2] != "" {
			if _, err := fmt.Sscan(found[2], &plus); err != nil {
				return o.fail("offset %s: %v", found[2], err)
			}
		}
		if plus < 0 || plus%bytes != 0 || plus+bytes > p.Bytes {
			return o.fail("%d bytes at %d of a parameter of %d bytes", bytes, plus, p.Bytes)
		}
		return fmt.Sprintf("reinterpret_cast<const char *>(&parameter%d) + %d", i, plus)
	}
	return o.fail("no parameter %s", operand)
}

func (o *operation) store() string {
	t := o.kind()
	space, elements := o.access()
	from := members(o.operand(1))
	if len(from) != elements || space == "param" {
		return o.unknown()
	}
	each := t.Bits() / 8
	out := fmt.Sprintf("{ char *to = %s;", o.place(space, o.operand(0), "Write", elements*each))
	for i, x := range from {
		out += fmt.Sprintf(" ptx::write<%s>(to + %d, %s);", types[t], i*each, o.low(x, t))
	}
	return out + " }"
}

// low returns an operand, of which the low bits count if its register is wider than its type.
func (o *operation) low(x string, t Type) string {
	if have := o.Registers[x]; have != "" && have.Bits() > t.Bits() && !t.float() && !have.float() {
		return fmt.Sprintf("%s(%s)", types[t], name(x))
	}
	return o.value(x, t)
}

// atomic translates additions, which are all that kernels use.
func (o *operation) atomic() string {
	space, t := o.parts[1], o.kind()
	if (o.form() != space+".add."+string(t)) || space != "global" && space != "shared" || t.float() {
		return o.unknown()
	}
	at := 1
	if o.parts[0] == "red" {
		at = 0
	}
	u := t.as("b")
	add := fmt.Sprintf("ptx::add<%s>(%s, %s)", types[u], o.place(space, o.operand(at), "Atomic", t.Bits()/8), o.in(at+1, u))
	if at == 0 {
		return add + ";"
	}
	return o.set(o.operand(0), u, add)
}

func (o *operation) together() string {
	switch o.parts[0] {
	case "bar", "barrier":
		if !o.is("sync,sync.aligned,cta.sync.aligned") || len(o.operands) != 1 || o.operands[0] != "0" {
			return o.unknown()
		}
		return fmt.Sprintf("emulated::wait_for_block(file, %d);", o.line)
	case "vote":
		if !o.is("sync.ballot.b32") {
			return o.unknown()
		}
		return o.set(o.operand(0), "b32", fmt.Sprintf("ptx::ballot(%s, %s, file, %d)", o.in(1, "pred"), o.in(2, "u32"), o.line))
	}
	if !o.is("sync.idx.b32,sync.bfly.b32") {
		return o.unknown()
	}
	to, inside, both := strings.Cut(o.operand(0), "|")
	out := o.set(to, "b32", fmt.Sprintf("ptx::shuffle_%s(%s, %s, %s, %s, file, %d)", o.parts[2], o.in(1, "b32"), o.in(2, "u32"), o.in(3, "u32"), o.in(4, "u32"), o.line))
	if both { // a lane beyond the segment is a fault
		out += " " + o.set(inside, "pred", "true")
	}
	return out
}

func (o *operation) compare() string {
	t := o.kind()
	relation := o.parts[1]
	x, y := o.in(1, t), o.in(2, t)
	signs := map[string]string{"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
	sign, known := signs[relation]
	unordered, isUnordered := signs[strings.TrimSuffix(relation, "u")]
	isUnordered = isUnordered && strings.HasSuffix(relation, "u")
	var e string
	switch {
	case t.float() && relation == "num":
		e = fmt.Sprintf("!ptx::unordered(%s, %s)", x, y)
	case t.float() && relation == "nan":
		e = fmt.Sprintf("ptx::unordered(%s, %s)", x, y)
	case t.float() && relation == "ne": // false if one is NaN
		e = fmt.Sprintf("(%s < %s || %s > %s)", x, y, x, y)
	case t.float() && isUnordered:
		e = fmt.Sprintf("(ptx::unordered(%s, %s) || %s %s %s)", x, y, x, unordered, y)
	case known && (t.float() || t[0] != 'b' || relation == "eq" || relation == "ne"):
		e = fmt.Sprintf("(%s %s %s)", x, sign, y)
	default:
		return o.unknown()
	}
	switch join := o.parts[2 : len(o.parts)-1]; {
	case len(join) == 0 && len(o.operands) == 3:
	case len(join) == 1 && len(o.operands) == 4 && strings.Contains("and or xor", join[0]):
		p := o.operand(3)
		not := ""
		if strings.HasPrefix(p, "!") {
			p, not = p[1:], "!"
		}
		e = fmt.Sprintf("bool(%s %s %s%s)", e, map[string]string{"and": "&", "or": "|", "xor": "^"}[join[0]], not, o.value(p, "pred"))
	default:
		return o.unknown()
	}
	return o.set(o.operand(0), "pred", e)
}
