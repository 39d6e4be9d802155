package compile

import (
	"fmt"
	"reflect"
	"strings"
)

// String returns a listing of the program: its values, as %ID, and its instructions, with the shapes of one sample.
// Programs with equal listings may differ in the values of initial parameters.
func (p *Program) String() string {
	var b strings.Builder
	b.WriteString("values\n")
	for id, v := range p.Values {
		if v.Kind != Shared {
			v.Source = None
		}
		fmt.Fprintf(&b, "\t%v: %s\n", ID(id), listed(v))
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

// String returns the instruction as listings show it.
func (in Instruction) String() string { return listed(in) }

// String returns the reduction as listings show it.
func (r Reduction) String() string { return listed(r) }

// String returns the view as listings show it.
func (v View) String() string { return "(" + listed(v) + ")" }

// String returns the window as listings show it.
func (w *Window) String() string { return "(" + listed(*w) + ")" }

// listed returns a struct's fields with their names. It leaves out fields that are zero or none; operations, kinds and
// values it never takes for zero.
func listed(v any) string {
	var words []string
	fields := reflect.ValueOf(v)
	for i := range fields.NumField() {
		f := fields.Field(i)
		switch x := f.Interface().(type) {
		case Op, Rule, Kind:
			words = append(words, fmt.Sprint(x))
			continue
		case ID:
			if x == None {
				continue
			}
		default:
			if f.IsZero() {
				continue
			}
		}
		words = append(words, fmt.Sprintf("%s %v", fields.Type().Field(i).Name, f.Interface()))
	}
	return strings.Join(words, ", ")
}

// String returns the rule's name.
func (r Rule) String() string {
	return [...]string{RankOne: "rank one", OfConv: "of conv", Materialised: "materialised", OfRows: "of rows"}[r]
}
