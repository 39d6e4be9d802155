package compile

import (
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/internal/graph"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// checkLists reports the first listed node that is nil or belongs to another graph than the cost. All other checks rely
// on it.
func checkLists(src Source) error {
	if src.Cost == nil {
		return fmt.Errorf("it has no cost")
	}
	g := src.Cost.Graph()
	if g == nil {
		return fmt.Errorf("cost %q belongs to no graph; Gorgonia takes 1-x and 1+x out of theirs when Log is taken of them", graph.Label(src.Cost))
	}
	check := func(what string, n *gorgonia.Node) error {
		switch {
		case n == nil:
			return fmt.Errorf("%s is nil", what)
		case n.Graph() != g:
			return fmt.Errorf("%s, node %q, isn't in the graph of the cost", what, graph.Label(n))
		}
		return nil
	}
	for _, list := range []struct {
		what  string
		nodes gorgonia.Nodes
	}{{"input", src.Inputs}, {"parameter", src.Params}, {"constant", src.Constants}} {
		for i, n := range list.nodes {
			if err := check(fmt.Sprintf("%s %d", list.what, i), n); err != nil {
				return err
			}
		}
	}
	if src.Output != nil {
		return check("output", src.Output)
	}
	return nil
}

// checkGraph walks the graph below cost and output and reports the first node that [Compile] can't rely on. Gorgonia
// would fail on it later: in a panic, or in a goroutine of its own, where no caller can recover.
func checkGraph(src Source) (err error) {
	const onTheWay, done = 1, 2
	state := map[*gorgonia.Node]int{}
	var at *gorgonia.Node
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("node %q: panic: %v", graph.Name(at), p)
		}
	}()
	var visit func(n *gorgonia.Node) error
	visit = func(n *gorgonia.Node) error {
		if state[n] == done {
			return nil
		}
		state[n] = onTheWay
		below, err := graph.Operands(n)
		if err != nil {
			return err
		}
		for _, c := range below {
			switch {
			case c == nil:
				return fmt.Errorf("node %q has an operand that is nil", graph.Label(n))
			case state[c] == onTheWay:
				return changed(n)
			}
			if err := visit(c); err != nil {
				return err
			}
		}
		state[n], at = done, n
		return checkNode(src, n, below)
	}
	for _, n := range []*gorgonia.Node{src.Cost, src.Output} {
		if n != nil {
			if err := visit(n); err != nil {
				return err
			}
		}
	}
	order := graph.Order(gorgonia.Nodes{src.Cost, src.Output})
	if err := checkSlices(order); err != nil {
		return err
	}
	return checkLogSoftmax(src, order)
}

// changed returns the error for a node that is still in use after Gorgonia took it out of its graph. Gorgonia recycles
// such a node for the next new one, so its former users compute something else.
func changed(n *gorgonia.Node) error {
	return fmt.Errorf("node %q or an operand of it isn't what it was made as: Gorgonia takes 1-x and 1+x out of their graph when Log is taken of them; use Log1p there", graph.Label(n))
}

// checkNode checks one node: its shape, its operands, that it hasn't changed since it was made, and that the source
// lists it if no operation computes it.
func checkNode(src Source, n *gorgonia.Node, below []*gorgonia.Node) error {
	for _, s := range n.Shape() {
		if s < 1 {
			return fmt.Errorf("node %q has shape %v: something before it, a window or a slice, doesn't fit", graph.Label(n), n.Shape())
		}
	}
	op := n.Op()
	if op == nil {
		switch {
		case slices.Contains(src.Params, n):
			return checkBound(n, false)
		case slices.Contains(src.Constants, n):
			return checkBound(n, true)
		case slices.Contains(src.Inputs, n):
			return nil
		}
		if n.Graph() == nil {
			return changed(n)
		}
		if n.Value() != nil {
			return fmt.Errorf("node %q holds a value but is neither input nor parameter; list it in the model's Parameters to train it, or in its Constants to keep it as it is", graph.Label(n))
		}
		return fmt.Errorf("node %q has no value bound and is neither input nor parameter; list it", graph.Label(n))
	}
	switch kind := graph.Kind(op); kind {
	case "constantScalar", "constantTensor":
		if s := fmt.Sprint(n.Value()); strings.Contains(s, " ... ") || strings.Contains(s, "\n.\n") {
			return fmt.Errorf("a constant of shape %v is too large for gorgonia.NewConstant, which takes two with equal corners for one; bind its value to a node by gorgonia.WithValue, and list the node in the model's Constants", n.Shape())
		}
		return checkBound(n, true)
	case "randomOp":
		if !named(n) {
			return refuse(n, "Gorgonia takes all random nodes of one shape for one, of whatever law, if they have no name",
				"models.GaussianRandomNode and models.UniformRandomNode, which have names")
		}
	case "":
		return refused(n)
	}
	h := fnv.New32a()
	if n.WriteHash(h); n.Graph() != src.Cost.Graph() || h.Sum32() != n.Hashcode() {
		return changed(n)
	}
	if a := op.Arity(); a >= 0 && a != len(below) {
		return fmt.Errorf("node %q has %d operands, its operation %s takes %d", graph.Label(n), len(below), graph.Operation(n), a)
	}
	return checkWindow(n, below)
}

// checkSlices refuses slices that Gorgonia (v0.9.18) may have taken for others: of a slice's bounds it compares the
// last eight bits. The first slice then stands for both, and nothing in the graph shows it. Where slices are the whole
// axis without an overlap, none is lost, except one that overlapped them.
func checkSlices(order []*gorgonia.Node) error {
	type axis struct {
		of    *gorgonia.Node
		along int
	}
	at, parts := map[*gorgonia.Node]axis{}, map[axis][]tensor.Slice{}
	for _, n := range order {
		if n.Op() != nil && graph.Kind(n.Op()) == "sliceOp" && graph.SliceOf(n.Op()) != nil {
			at[n] = axis{graph.Children(n)[0], graph.FieldsOf(n.Op()).Int("along")}
			parts[at[n]] = append(parts[at[n]], graph.SliceOf(n.Op()))
		}
	}
	for _, n := range order {
		a, ok := at[n]
		if !ok {
			continue
		}
		s, length := graph.SliceOf(n.Op()), graph.Shape(a.of)[a.along]
		if (s.Start() >= 256 || s.End()+256 <= length) && !areWhole(parts[a], length) {
			return refuse(n, fmt.Sprintf("it begins at %d on an axis of %d, and Gorgonia takes slices that begin 256 apart for one", s.Start(), length),
				"slices that are the whole axis without an overlap, Reshape to an axis of parts, an input for each part, or Sum of a product with a constant of zeros and ones")
		}
	}
	return nil
}

// areWhole reports whether parts are an axis without an overlap.
func areWhole(parts []tensor.Slice, length int) bool {
	slices.SortFunc(parts, func(a, b tensor.Slice) int { return a.Start() - b.Start() })
	end := 0
	for _, p := range parts {
		if p.Start() != end {
			return false
		}
		end = p.End()
	}
	return end == length
}

// checkBound refuses tensors in column-major order, which would be read wrong, and numbers that aren't finite in
// float32. A constant may mask by -Inf.
func checkBound(n *gorgonia.Node, constant bool) error {
	if t, ok := n.Value().(*tensor.Dense); ok && len(t.Shape()) > 1 && t.DataOrder().IsColMajor() && !t.RequiresIterator() {
		return fmt.Errorf("node %q is bound to a tensor in column-major order; use row-major order", graph.Label(n))
	}
	values, err := graph.Floats(n)
	if err != nil {
		return nil // rules report other types
	}
	for _, v := range values {
		if v-v != 0 && !(constant && math.IsInf(float64(v), -1)) { // NaN or infinite
			return fmt.Errorf("node %q is bound to a value that isn't finite in single precision", graph.Label(n))
		}
	}
	return nil
}

// checkWindow refuses windows that don't fit into their image: Gorgonia reads past the image, in its own goroutines.
func checkWindow(n *gorgonia.Node, below []*gorgonia.Node) error {
	kind, f := graph.Kind(n.Op()), graph.FieldsOf(n.Op())
	var padH, padW int
	dilationH, dilationW := 1, 1
	switch kind {
	case "im2colOp":
		padH, padW = 2*f.Int("padH"), 2*f.Int("padW")
		dilationH, dilationW = f.Int("dilationH"), f.Int("dilationW")
	case "maxPoolOp":
		padH, padW = f.Int("padNorth")+f.Int("padSouth"), f.Int("padWest")+f.Int("padEast")
	default:
		return nil
	}
	s := below[0].Shape()
	if len(s) != 4 {
		return fmt.Errorf("node %q takes windows of a value of shape %v; it must have samples, channels, rows and columns", graph.Label(n), s)
	}
	h, w := f.Int("h"), f.Int("w")
	if h < 1 || w < 1 || s[2]+padH < dilationH*(h-1)+1 || s[3]+padW < dilationW*(w-1)+1 {
		return fmt.Errorf("node %q: its window of %d×%d doesn't fit into the %d×%d of %q", graph.Label(n), h, w, s[2], s[3], graph.Label(below[0]))
	}
	if kind == "maxPoolOp" && max(f.Int("padNorth"), f.Int("padSouth")) >= h || kind == "maxPoolOp" && max(f.Int("padWest"), f.Int("padEast")) >= w {
		return fmt.Errorf("node %q: some of its windows hold padding alone; pad by less than the window's %d×%d", graph.Label(n), h, w)
	}
	return nil
}
