package ptx

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Cpp translates the module to C++, whose kernels the emulated device can launch. A fault there names file and a line
// of the PTX. Parameters of 64 bits are taken for pointers, of 32 bits for int32.
func (m *Module) Cpp(file string) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "#include \"emulated_ptx.h\"\n\nstatic const char file[] = %q;\n", file)
	for _, c := range m.Constants {
		var list []string
		for _, v := range c.Bytes {
			list = append(list, strconv.Itoa(int(v)))
		}
		fmt.Fprintf(&b, "static const uint8_t data_%s[] = {%s};\n", c.Name, strings.Join(list, ", "))
	}
	for _, k := range m.Kernels {
		w := &writer{Kernel: k, module: m, at: map[string]int{}}
		text, err := w.kernel()
		if err != nil {
			return "", fmt.Errorf("%s: kernel %s: %w", file, k.Name, err)
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

// writer translates one kernel: registers are local variables, and threads do together what the device offers.
type writer struct {
	*Kernel
	module *Module
	at     map[string]int // by variable: its address
}

// A shared variable's address has 32 bits: its number, counted from 1, and an offset that begins in the middle of what
// the low bits hold, so that a pointer that is moved too far names no other variable. See emulated_ptx.h.
const (
	sharedBits  = 24
	localMargin = 16 // unused bytes around each local variable
)

var symbol = regexp.MustCompile(`[^\w]`)

// name returns a name in C++ for a register, label or symbol.
func name(s string) string { return symbol.ReplaceAllString(strings.TrimPrefix(s, "%"), "_") }

func (w *writer) kernel() (string, error) {
	var b strings.Builder
	local, shared := localMargin, 0
	var arrays []string
	for _, v := range w.Variables {
		if v.Shared {
			shared++
			w.at[v.Name] = shared<<sharedBits | 1<<(sharedBits-1)
			arrays = append(arrays, fmt.Sprintf("\t\temulated::shared_array(&data_%s_%s, %q, %d, file, 0),\n", w.Name, name(v.Name), v.Name, v.Bytes))
			fmt.Fprintf(&b, "static char data_%s_%s;\n", w.Name, name(v.Name))
			continue
		}
		local = (local + v.Align - 1) / v.Align * v.Align
		w.at[v.Name] = local
		local += v.Bytes + localMargin
	}
	var parameters []string
	for i, p := range w.Parameters {
		t := "global<const char>"
		switch {
		case p.Struct:
			t = fmt.Sprintf("ptx::bytes<%d>", p.Bytes)
		case p.Type.Bits() == 32:
			t = map[bool]string{true: "float", false: "int32_t"}[p.Type.float()]
		case p.Type == "f64":
			t = "double"
		case p.Bytes != 8:
			return "", fmt.Errorf("a parameter of type %s", p.Type)
		}
		parameters = append(parameters, fmt.Sprintf("%s parameter%d", t, i))
	}
	fmt.Fprintf(&b, "KERNEL(%s)(%s) {\n", w.Name, strings.Join(parameters, ", "))
	fmt.Fprintf(&b, "\tconst uint64_t shared[] = {0,\n%s\t};\n\t(void)shared;\n", strings.Join(arrays, ""))
	fmt.Fprintf(&b, "\tptx::Local<%d> local;\n\t(void)local;\n", local)
	for _, c := range w.module.Constants {
		fmt.Fprintf(&b, "\tconst uint64_t at_%s = emulated::constant_array(data_%s, sizeof data_%s);\n\t(void)at_%s;\n", c.Name, c.Name, c.Name, c.Name)
	}
	w.declare(&b)
	labels := map[string]bool{}
	for _, in := range w.Code {
		labels[in.Label] = true
	}
	b.WriteString("\tuint64_t &issued = emulated::issued();\n")
	var straight strings.Builder // what is executed up to the next label or jump
	issued := 0
	flush := func() {
		if issued > 0 {
			fmt.Fprintf(&b, "\tissued += %d;\n", issued)
		}
		b.WriteString(straight.String())
		straight.Reset()
		issued = 0
	}
	issues := w.Issues()
	for i, in := range w.Code {
		issued += issues[i]
		if in.Label != "" {
			flush()
			fmt.Fprintf(&b, "%s:;\n", name(in.Label))
			continue
		}
		text, err := w.instruction(in, labels)
		if err != nil {
			return "", fmt.Errorf("line %d: %s %s: %w", in.Line, in.Op, strings.Join(in.Operands, ", "), err)
		}
		fmt.Fprintf(&straight, "\t%s\n", text)
		if in.ends() || in.waits() {
			flush()
		}
	}
	flush()
	fmt.Fprintf(&b, "\tptx::wrong(\"the end of the code is reached\", file, 0);\n}\nEXPORT(%s)\n", w.Name)
	return b.String(), nil
}

// declare declares the registers that are used.
func (w *writer) declare(b *strings.Builder) {
	used := map[string]bool{}
	for _, in := range w.Code {
		for _, r := range append(in.reads(), in.writes()...) {
			used[r] = true
		}
	}
	byType := map[string][]string{}
	for _, r := range slices.Sorted(maps.Keys(used)) {
		if t := types[w.Registers[r]]; t != "" {
			byType[t] = append(byType[t], name(r)+" = 0")
		}
	}
	for _, t := range slices.Sorted(maps.Keys(byType)) {
		for list := range slices.Chunk(byType[t], 12) {
			fmt.Fprintf(b, "\t%s %s;\n", t, strings.Join(list, ", "))
		}
	}
}

func (w *writer) instruction(in Instruction, labels map[string]bool) (string, error) {
	var text string
	switch in.Op {
	case "bra", "bra.uni":
		if len(in.Operands) != 1 || in.Operands[0] == "" || !labels[in.Operands[0]] {
			return "", errors.New("no such label")
		}
		text = "goto " + name(in.Operands[0]) + ";"
	case "ret", "exit":
		text = "return;"
	default:
		o := &operation{writer: w, parts: strings.Split(in.Op, "."), operands: in.Operands, line: in.Line}
		text = o.translate()
		if o.err != nil {
			return "", o.err
		}
	}
	if in.Guard == "" {
		return text, nil
	}
	if w.Registers[in.Guard] != "pred" {
		return "", fmt.Errorf("%s is no predicate", in.Guard)
	}
	return fmt.Sprintf("if (%s%s) { %s }", map[bool]string{true: "!"}[in.Negated], name(in.Guard), text), nil
}

// operation is an instruction that is translated. Its methods note the first error.
type operation struct {
	*writer
	parts    []string // of the instruction's name
	operands []string
	line     int
	err      error
}

func (o *operation) fail(format string, arguments ...any) string {
	if o.err == nil {
		o.err = fmt.Errorf(format, arguments...)
	}
	return ""
}

// unknown reports that no form of the instruction is known.
func (o *operation) unknown() string { return o.fail("a form that isn't known") }

// form is the instruction's name without its first part.
func (o *operation) form() string { return strings.Join(o.parts[1:], ".") }

// is reports whether the form is one of a list that commas separate.
func (o *operation) is(forms string) bool {
	return slices.Contains(strings.Split(forms, ","), o.form())
}

// kind is the type that the instruction's name ends with.
func (o *operation) kind() Type {
	t := Type(o.parts[len(o.parts)-1])
	if !t.valid() {
		o.fail("a type that isn't known")
		return "b32"
	}
	return t
}

// operand returns an operand as it is written; "" if there are fewer.
func (o *operation) operand(i int) string {
	if i >= len(o.operands) {
		return o.fail("%d operands are too few", len(o.operands))
	}
	return o.operands[i]
}

// in returns operand i as C++ of type t.
func (o *operation) in(i int, t Type) string { return o.value(o.operand(i), t) }

var (
	special = regexp.MustCompile(`^%(tid|ctaid|ntid|nctaid)\.x$`)
	number  = regexp.MustCompile(`^-?\d+$`)
	binary  = regexp.MustCompile(`^0([fF][0-9A-Fa-f]{8}|[dD][0-9A-Fa-f]{16})$`)
	places  = map[string]string{"tid": "thread", "ctaid": "block", "ntid": "threads", "nctaid": "blocks"}
)

// value returns an operand as C++ of type t. Registers are reinterpreted, and never converted.
func (o *operation) value(x string, t Type) string {
	if found := special.FindStringSubmatch(x); found != nil && t.Bits() == 32 {
		return types[t] + "(emulated::place()." + places[found[1]] + ")"
	}
	if have, ok := o.Registers[x]; ok {
		switch {
		case have.Bits() != t.Bits():
			return o.fail("%s has type %s and is used as %s", x, have, t)
		case types[have] == types[t]:
			return name(x)
		}
		return fmt.Sprintf("ptx::as<%s>(%s)", types[t], name(x))
	}
	switch {
	case binary.MatchString(x):
		if bits := 4 * len(x[2:]); bits != t.Bits() || !t.float() && t[0] != 'b' {
			return o.fail("%s is used as %s", x, t)
		}
		if t.float() {
			return fmt.Sprintf("ptx::as<%s>(%s(0x%sull))", types[t], types[t.as("b")], x[2:])
		}
		return fmt.Sprintf("%s(0x%sull)", types[t], x[2:])
	case number.MatchString(x):
		if t.float() {
			return o.fail("%s is used as %s", x, t)
		}
		if t == "pred" {
			return map[bool]string{true: "false", false: "true"}[x == "0"]
		}
		return fmt.Sprintf("%s(%sull)", types[t], x)
	}
	if at, ok := o.at[x]; ok {
		return fmt.Sprintf("%s(%du)", types[t], at)
	}
	if t.Bits() == 64 && slices.ContainsFunc(o.module.Constants, func(c Constant) bool { return c.Name == x }) {
		return types[t] + "(at_" + x + ")"
	}
	return o.fail("operand %s isn't known", x)
}

// set returns a statement that gives register d a value, an expression of type t.
func (o *operation) set(d string, t Type, value string) string {
	have, ok := o.Registers[d]
	switch {
	case !ok || o.err != nil:
		return o.fail("no register %s", d)
	case have.Bits() != t.Bits():
		return o.fail("%s has type %s and gets a value of %s", d, have, t)
	case types[have] == types[t]:
		return fmt.Sprintf("%s = %s;", name(d), value)
	}
	return fmt.Sprintf("%s = ptx::as<%s>(%s(%s));", name(d), types[have], types[t], value)
}

// extend is set for a register that may be wider than the value, which is extended by its sign if it has one.
func (o *operation) extend(d string, t Type, value string) string {
	have := o.Registers[d]
	if have == "" || have.Bits() <= t.Bits() || t.float() || t == "pred" {
		return o.set(d, t, value)
	}
	wide := map[bool]string{true: "int64_t", false: "uint64_t"}[t[0] == 's']
	return fmt.Sprintf("%s = %s(%s(%s));", name(d), types[have], wide, value)
}

var addressed = regexp.MustCompile(`^\[([%\w$]+)(?:\+(-?\d+))?\]$`)

// address returns the address that an operand in brackets names, 64 bits.
func (o *operation) address(x string) string {
	found := addressed.FindStringSubmatch(x)
	if found == nil {
		return o.fail("no form of an address that is known")
	}
	base := ""
	if t, ok := o.Registers[found[1]]; ok && !t.float() {
		base = fmt.Sprintf("uint64_t(%s)", name(found[1]))
	} else if at, ok := o.at[found[1]]; ok {
		base = fmt.Sprintf("uint64_t(%du)", at)
	} else {
		return o.fail("address %s isn't known", x)
	}
	if found[2] != "" {
		base += fmt.Sprintf(" + uint64_t(%sll)", found[2])
	}
	return base
}
