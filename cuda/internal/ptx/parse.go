package ptx

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Module is a file of PTX.
type Module struct {
	Constants []Constant
	Kernels   []*Kernel
}

// Constant is an array in global memory that the module brings along.
type Constant struct {
	Name  string
	Align int
	Bytes []byte
}

// Kernel is an entry of a module.
type Kernel struct {
	Name       string
	Parameters []Parameter
	Registers  map[string]Type // by name, which begins with %
	Variables  []Variable
	Code       []Instruction
}

// Parameter is a kernel's parameter: a number, or a struct of Bytes bytes if Struct is true.
type Parameter struct {
	Name   string
	Type   Type
	Bytes  int
	Struct bool
}

// Variable is an array of a block's shared memory, or of a thread's local memory.
type Variable struct {
	Shared       bool
	Name         string
	Align, Bytes int
}

// Instruction is a label, or an instruction.
type Instruction struct {
	Line     int
	Label    string // "" for an instruction
	Guard    string // the predicate that it is executed under; "" for always
	Negated  bool   // it is executed if the guard is false
	Op       string // with all its parts, such as ld.global.f32
	Operands []string
}

// Type is the type of an operand: u, s, b or f and a number of bits, or pred.
type Type string

// Bits returns the type's size; 1 for a predicate.
func (t Type) Bits() int {
	if t == "pred" {
		return 1
	}
	n, _ := strconv.Atoi(string(t[1:]))
	return n
}

// valid reports whether there is such a type.
func (t Type) valid() bool { return types[t] != "" }

// float reports whether it is a type of floating-point numbers.
func (t Type) float() bool { return t[0] == 'f' }

// as returns the type of the same size and another kind.
func (t Type) as(kind string) Type { return Type(kind + string(t[1:])) }

// types are the types in C++.
var types = map[Type]string{
	"pred": "bool", "b8": "uint8_t", "u8": "uint8_t", "s8": "int8_t", "b16": "uint16_t", "u16": "uint16_t", "s16": "int16_t",
	"b32": "uint32_t", "u32": "uint32_t", "s32": "int32_t", "b64": "uint64_t", "u64": "uint64_t", "s64": "int64_t",
	"f32": "float", "f64": "double",
}

var (
	directive = regexp.MustCompile(`^\.(version|target|address_size)\b`)
	constant  = regexp.MustCompile(`^\.global \.align (\d+) \.b8 ([\w$]+)\[(\d+)\] = \{(.*)\};$`)
	entry     = regexp.MustCompile(`^\.visible \.entry ([\w$]+)\(`)
	parameter = regexp.MustCompile(`\.param (?:\.align (\d+) )?\.(\w+) ([\w$]+)(?:\[(\d+)\])?`)
	tuning    = regexp.MustCompile(`^\.(maxntid|minnctapersm|reqntid|maxnreg)\b`)
	registers = regexp.MustCompile(`^\.reg \.(\w+)\s+(%\w+?)(?:<(\d+)>)?;$`)
	variable  = regexp.MustCompile(`^\.(local|shared) \.align (\d+) \.(\w+)\s+([\w$]+)(?:\[(\d+)\])?;$`)
	label     = regexp.MustCompile(`^(\$?[\w$]+):$`)
	statement = regexp.MustCompile(`^(?:@(!?)(%\w+)\s+)?([a-z][\w.]*)\s*(.*);$`)
	separator = regexp.MustCompile(`[{\[]|[}\]]|,`)
)

// reader goes through the lines of a file, without comments and empty ones.
type reader struct {
	name  string
	lines []string
	at    int // of the line that is read next; lines are counted from 1
}

// next returns the next line, "" at the end.
func (r *reader) next() string {
	for r.at < len(r.lines) {
		text, _, _ := strings.Cut(r.lines[r.at], "//")
		r.at++
		if text = strings.TrimSpace(text); text != "" {
			return text
		}
	}
	return ""
}

func (r *reader) fault(format string, arguments ...any) error {
	return fmt.Errorf("%s:%d: %s", r.name, r.at, fmt.Sprintf(format, arguments...))
}

// Parse reads a module. The name appears in errors.
func Parse(name, text string) (*Module, error) {
	r, m := &reader{name: name, lines: strings.Split(text, "\n")}, &Module{}
	for line := r.next(); line != ""; line = r.next() {
		switch found := constant.FindStringSubmatch(line); {
		case directive.MatchString(line):
		case found != nil:
			c, err := constantOf(found)
			if err != nil {
				return nil, r.fault("%v", err)
			}
			m.Constants = append(m.Constants, c)
		case entry.MatchString(line):
			k, err := r.kernel(line)
			if err != nil {
				return nil, err
			}
			m.Kernels = append(m.Kernels, k)
		default:
			return nil, r.fault("no form of a declaration that is known: %s", line)
		}
	}
	return m, nil
}

func constantOf(found []string) (c Constant, err error) {
	c.Name = found[2]
	if c.Align, err = strconv.Atoi(found[1]); err != nil {
		return c, err
	}
	for n := range strings.SplitSeq(found[4], ",") {
		b, err := strconv.ParseUint(strings.TrimSpace(n), 10, 8)
		if err != nil {
			return c, err
		}
		c.Bytes = append(c.Bytes, byte(b))
	}
	if strconv.Itoa(len(c.Bytes)) != found[3] {
		return c, fmt.Errorf("%d bytes where %s are declared", len(c.Bytes), found[3])
	}
	return c, nil
}

// kernel reads an entry, whose first line is given.
func (r *reader) kernel(line string) (*Kernel, error) {
	k := &Kernel{Name: entry.FindStringSubmatch(line)[1], Registers: map[string]Type{}}
	line = line[len(entry.FindString(line)):]
	for {
		for _, p := range parameter.FindAllStringSubmatch(line, -1) {
			q := Parameter{Name: p[3], Type: Type(p[2])}
			if !q.Type.valid() {
				return nil, r.fault("a parameter of type %s", p[2])
			}
			q.Bytes = q.Type.Bits() / 8
			if p[4] != "" {
				n, err := strconv.Atoi(p[4])
				if err != nil || p[1] != "8" || q.Bytes != 1 {
					return nil, r.fault("a struct that isn't bytes aligned to 8: %s", line)
				}
				q.Bytes, q.Struct = n, true
			}
			k.Parameters = append(k.Parameters, q)
		}
		if strings.Contains(line, ")") {
			break
		}
		if line = r.next(); line == "" {
			return nil, r.fault("the file ends within the parameters of %s", k.Name)
		}
	}
	for line = r.next(); line != "{"; line = r.next() {
		if !tuning.MatchString(line) {
			return nil, r.fault("no form of a directive that is known: %s", line)
		}
	}
	for line = r.next(); line != "}"; line = r.next() {
		if line == "" {
			return nil, r.fault("the file ends within %s", k.Name)
		}
		if err := r.line(k, line); err != nil {
			return nil, err
		}
	}
	return k, nil
}

// line reads a line of a kernel's body.
func (r *reader) line(k *Kernel, line string) error {
	if strings.HasPrefix(line, ".pragma") {
		return nil
	}
	if found := registers.FindStringSubmatch(line); found != nil {
		t := Type(found[1])
		if !t.valid() {
			return r.fault("registers of type %s", t)
		}
		if found[3] == "" {
			k.Registers[found[2]] = t
			return nil
		}
		n, err := strconv.Atoi(found[3])
		if err != nil || n > 1<<20 {
			return r.fault("%s registers", found[3])
		}
		for i := range n {
			k.Registers[found[2]+strconv.Itoa(i)] = t
		}
		return nil
	}
	if found := variable.FindStringSubmatch(line); found != nil {
		v := Variable{Shared: found[1] == "shared", Name: found[4]}
		t, count := Type(found[3]), 1
		if !t.valid() {
			return r.fault("a variable of type %s", t)
		}
		var err error
		if found[5] != "" {
			count, err = strconv.Atoi(found[5])
		}
		if v.Align, _ = strconv.Atoi(found[2]); err != nil || v.Align < 1 || v.Align > 16 || count > 1<<20 {
			return r.fault("a variable of %s elements aligned to %s", found[5], found[2])
		}
		v.Bytes = t.Bits() / 8 * count
		k.Variables = append(k.Variables, v)
		return nil
	}
	if found := label.FindStringSubmatch(line); found != nil {
		k.Code = append(k.Code, Instruction{Line: r.at, Label: found[1]})
		return nil
	}
	found := statement.FindStringSubmatch(line)
	if found == nil {
		return r.fault("no form of a statement that is known: %s", line)
	}
	k.Code = append(k.Code, Instruction{
		Line: r.at, Guard: found[2], Negated: found[1] == "!", Op: found[3], Operands: split(found[4]),
	})
	return nil
}

// split returns the operands of a list, which commas separate outside of braces and brackets.
func split(list string) (out []string) {
	depth, from := 0, 0
	for _, at := range separator.FindAllStringIndex(list, -1) {
		switch list[at[0]] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		default:
			if depth == 0 {
				out = append(out, strings.TrimSpace(list[from:at[0]]))
				from = at[1]
			}
		}
	}
	if last := strings.TrimSpace(list[from:]); last != "" {
		out = append(out, last)
	}
	return out
}

// members returns the operands within braces; the operand itself if it has none.
func members(operand string) []string {
	if strings.HasPrefix(operand, "{") && strings.HasSuffix(operand, "}") {
		return split(operand[1 : len(operand)-1])
	}
	return []string{operand}
}
