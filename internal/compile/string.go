package compile

import (
	"fmt"
	"slices"
	"strings"
)

// String returns a listing of the program: its values, as %ID, and its instructions, with the shapes of one sample.
// Programs with equal listings may differ in the values of constants and of initial parameters.
func (p *Program) String() string {
	var b strings.Builder
	b.WriteString("values\n")
	for id, v := range p.Values {
		fmt.Fprintf(&b, "\t%%%d %v %v%v", id, v.Kind, v.Type, v.Shape)
		switch v.Kind {
		case Input, Param:
			fmt.Fprintf(&b, " %d", v.Index)
		case Shared:
			fmt.Fprintf(&b, " of %%%d, %v", v.Source, v.View)
		}
		if v.Name != "" {
			fmt.Fprintf(&b, " %q", v.Name)
		}
		b.WriteString("\n")
	}
	if p.Output.Name != "" {
		fmt.Fprintf(&b, "output %v %v%v\n", p.Output.Value, p.Output.Type, p.Output.Shape)
	}
	for _, list := range []struct {
		name string
		code []Instruction
	}{{"prepare", p.Prepare}, {"predict", p.Predict}, {"forward", p.Forward}, {"backward", p.Backward}} {
		if list.name == "prepare" && len(list.code) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%s\n", list.name)
		for _, in := range list.code {
			fmt.Fprintf(&b, "\t%v\n", in)
		}
	}
	b.WriteString("reductions\n")
	for _, r := range p.Reductions {
		fmt.Fprintf(&b, "\t%v\n", r)
	}
	if p.Decay != nil {
		fmt.Fprintf(&b, "decay %v, of a mean: %v\n", p.Decay, p.DecayOfMean)
	}
	return b.String()
}

// String returns the ID as listings show it.
func (id ID) String() string {
	if id == None {
		return "none"
	}
	return fmt.Sprintf("%%%d", int(id))
}

// String returns the instruction as listings show it: result, operation, operands by their names in opTable, settings.
func (in Instruction) String() string {
	row := in.Op.row()
	has := func(f field) bool { return row.fields&f != 0 }
	var words []string
	add := func(format string, args ...any) { words = append(words, fmt.Sprintf(format, args...)) }
	if in.Out != None {
		sign := "="
		if in.Accumulate {
			sign = "+="
		}
		add("%v %s", in.Out, sign)
	}
	add("%v", in.Op)
	if row.takes != noFunc {
		add("%v", in.Func)
	}
	for k, id := range in.In {
		name := "operand"
		if k < len(row.operands) {
			name = row.operands[k].name
		}
		if !slices.Contains(in.Reads(), id) {
			name = "unread " + name
		}
		add("%s %v", name, id)
	}
	switch {
	case has(hasProduct), has(hasTable):
		add("rows %d k %d n %d", in.Rows, in.K, in.N)
	case has(hasRows):
		add("rows %d k %d", in.Rows, in.K)
	}
	if has(hasGroups) {
		add("groups %d", in.Groups)
	}
	if in.TransA {
		add("first transposed")
	}
	if in.TransB {
		add("transposed")
	}
	if has(hasDraw) {
		add("draw %d", in.Draw)
	}
	if has(hasScalar) {
		add("number %v", in.Scalar)
	}
	if in.Swap {
		add("first")
	}
	if has(hasSide) {
		add("side %d", in.Side)
	}
	if has(hasView) {
		add("%v", in.View)
	}
	if has(hasWindow) && in.Window != nil {
		add("%v", in.Window)
	}
	if in.Where != None {
		add("where %v", in.Where)
	}
	return strings.Join(words, " ")
}

// String returns the reduction as listings show it.
func (r Reduction) String() string {
	switch r.Rule {
	case RankOne:
		s := fmt.Sprintf("param %d: %v x %v δ %v k %d n %d", r.Param, r.Rule, r.X, r.Delta, r.K, r.N)
		if r.TransB {
			s += " transposed"
		}
		return s
	case OfRows:
		return fmt.Sprintf("param %d: %v x %v δ %v rows %d k %d n %d", r.Param, r.Rule, r.X, r.Delta, r.Rows, r.K, r.N)
	case OfConv:
		return fmt.Sprintf("param %d: %v x %v δ %v %v", r.Param, r.Rule, r.X, r.Delta, r.Window)
	}
	return fmt.Sprintf("param %d: %v G %v", r.Param, r.Rule, r.G)
}

// String returns the view as listings show it: its offset, and each axis with its stride.
func (v View) String() string {
	var axes []string
	for d, n := range v.Shape {
		stride := 0
		if d < len(v.Strides) {
			stride = v.Strides[d]
		}
		axes = append(axes, fmt.Sprintf("%d by %d", n, stride))
	}
	return fmt.Sprintf("view from %d [%s]", v.Offset, strings.Join(axes, ", "))
}

// String returns the window as listings show it.
func (w *Window) String() string {
	if w == nil {
		return "no window"
	}
	s := fmt.Sprintf("window %d×%d over %d×%d×%d stride %d×%d", w.KH, w.KW, w.C, w.H, w.W, w.StrideH, w.StrideW)
	if w.DilationH != 1 || w.DilationW != 1 {
		s += fmt.Sprintf(" dilation %d×%d", w.DilationH, w.DilationW)
	}
	if w.PadH != 0 || w.PadW != 0 {
		s += fmt.Sprintf(" padding %d×%d", w.PadH, w.PadW)
	}
	return s + fmt.Sprintf(" to %d×%d×%d", w.OutC, w.OutH, w.OutW)
}

// String returns the type's name.
func (t Type) String() string {
	return nameOf8("type", uint8(t), []string{Float32: "float32", Int32: "int32"})
}

// String returns the kind's name.
func (k Kind) String() string {
	return nameOf8("kind", uint8(k), []string{Buffer: "buffer", Input: "input", Param: "param", Const: "const", Shared: "shared", Derived: "derived"})
}

// String returns the rule's name.
func (r Rule) String() string {
	return nameOf8("rule", uint8(r), []string{RankOne: "rank one", OfConv: "of conv", Materialised: "materialised", OfRows: "of rows"})
}

// nameOf8 returns names[i], or what and i beyond them.
func nameOf8(what string, i uint8, names []string) string {
	if int(i) < len(names) {
		return names[i]
	}
	return fmt.Sprintf("%s %d", what, i)
}
