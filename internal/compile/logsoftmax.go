package compile

import (
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/internal/graph"
	"gorgonia.org/gorgonia"
)

// checkLogSoftmax refuses graphs in which a log softmax may have been meant as a softmax. Gorgonia's Log of a softmax
// (v0.9.18) turns the softmax itself into its logarithm: every other use of it, earlier or later, then reads the
// logarithm, and nothing in the graph shows it. So each use of a log softmax must be linear in it. Uses that no softmax
// has, see [evident], may be any number, and other ones one: that of a cross-entropy. A graph that drops the logarithm
// looks like a graph that uses it.
//
// In the same way, LogSoftMax of what a SoftMax was taken of before is that softmax. So a softmax must not be used as
// logarithms are, see [asLogarithm].
func checkLogSoftmax(src Source, order []*gorgonia.Node) error {
	users, trained := map[*gorgonia.Node][]*gorgonia.Node{}, map[*gorgonia.Node]bool{}
	for _, n := range order {
		trained[n] = slices.Contains(src.Params, n)
		for _, c := range graph.Children(n) {
			users[c] = append(users[c], n)
			trained[n] = trained[n] || trained[c] && !isSize(n)
		}
	}
	for _, n := range order {
		if !isSoftmax(n) {
			continue
		}
		if !isLogSoftmax(n) {
			if asLogarithm(n, src, order, trained) {
				return fmt.Errorf("node %q is a softmax where its logarithm may be meant: LogSoftMax of what a SoftMax was taken of before is, to Gorgonia, that SoftMax; take LogSoftMax first and alone, and Exp of it for the softmax", graph.Label(n))
			}
			continue
		}
		var use *gorgonia.Node
		for _, u := range users[n] {
			switch {
			case isExp(u), isSize(u), evident(u, n, graph.SoftmaxAxis(n), users):
			case use != nil || !weighed(u, n, users):
				return fmt.Errorf("node %q takes a log softmax where a softmax may be meant: Gorgonia turns the one into the other when Log is taken of it, as BinaryXent does; use LogSoftMax for the logarithm, multiplied once, by the sum of all weights, and Exp of it for the softmax", graph.Label(u))
			default:
				use = u
			}
		}
	}
	return nil
}

func isSoftmax(n *gorgonia.Node) bool {
	return n.Op() != nil && graph.Kind(n.Op()) == "softmaxOp"
}

// isSize reports whether n is a length, of a broadcast, which depends on no value.
func isSize(n *gorgonia.Node) bool {
	return n.Op() != nil && graph.Kind(n.Op()) == "sizeOp"
}

func isLogSoftmax(n *gorgonia.Node) bool {
	return isSoftmax(n) && graph.FieldsOf(n.Op()).Bool("isLog")
}

func isExp(n *gorgonia.Node) bool {
	return n.Op() != nil && graph.Kind(n.Op()) == "elemUnaryOp" && graph.Operator(n.Op()) == Exp.String()
}

// asLogarithm reports whether the softmax s is read as log probabilities are: by its Exp, or in a cost that is a sum of
// products of s with weights that nothing trains, as a cross-entropy, that depend on s, as a focal loss or an entropy,
// or that are another softmax. If s is the output too, one such product is enough. Attention and mixtures are no such
// uses: what a softmax weighs there is trained.
func asLogarithm(s *gorgonia.Node, src Source, order []*gorgonia.Node, trained map[*gorgonia.Node]bool) bool {
	reads, linear := map[*gorgonia.Node]bool{}, map[*gorgonia.Node]bool{s: true}
	for _, n := range order {
		if isSize(n) {
			continue
		}
		below := graph.Children(n)
		reads[n] = n == s || slices.ContainsFunc(below, func(c *gorgonia.Node) bool { return reads[c] })
		if !slices.ContainsFunc(below, func(c *gorgonia.Node) bool { return linear[c] }) {
			continue
		}
		weighs := func(c *gorgonia.Node) bool { return reads[c] || !trained[c] || isSoftmax(c) }
		product := false
		switch operator := graph.Operator(n.Op()); graph.Kind(n.Op()) {
		case "sumOp", "sliceOp", "reshapeOp", "transposeOp", "repeatOp", "Iop":
			linear[n] = true
		case "elemUnaryOp":
			if linear[n] = operator == Neg.String(); operator == Exp.String() {
				return true
			}
		case "linAlgBinOp":
			product = weighs(below[0]) && weighs(below[1])
		case "elemBinOp":
			switch square := below[0] == below[1] && below[0] != s; operator {
			case Add.String(), Sub.String():
				linear[n] = true
			case Mul.String():
				product = weighs(below[0]) && weighs(below[1]) && !square
			case Div.String():
				linear[n] = linear[below[0]] && weighs(below[1])
			}
		}
		if product && s == src.Output {
			return true
		}
		linear[n] = linear[n] || product
	}
	return linear[src.Cost]
}

// weighed reports whether n uses the log softmax l as log probabilities: n adds them up or multiplies them by factors
// that don't depend on them, perhaps after changes of sign and shape.
func weighed(n, l *gorgonia.Node, users map[*gorgonia.Node][]*gorgonia.Node) bool {
	passes := func() bool {
		return !slices.ContainsFunc(users[n], func(u *gorgonia.Node) bool { return !weighed(u, l, users) })
	}
	switch graph.Kind(n.Op()) {
	case "sumOp", "sizeOp":
		return true
	case "sliceOp", "reshapeOp", "transposeOp", "repeatOp", "Iop":
		return passes()
	case "elemUnaryOp":
		return graph.Operator(n.Op()) == Neg.String() && passes()
	case "linAlgBinOp":
		return apart(n, l)
	case "elemBinOp":
		switch graph.Operator(n.Op()) {
		case Add.String(), Sub.String():
			return apart(n, l) && (len(users[l]) == 1 || passes()) // else a squared error of the softmax would be taken
		case Mul.String():
			return apart(n, l)
		case Div.String():
			return apart(n, l) && !dependsOn(graph.Children(n)[1], l, map[*gorgonia.Node]bool{})
		}
	}
	return false
}

// evident reports whether n uses the log softmax l in a way that makes no sense for a softmax: n adds it up along the
// axis on which softmaxes sum to 1, as label smoothing does, or multiplies it by its own Exp, as an entropy does. axis
// is that axis of n's operand.
func evident(n, l *gorgonia.Node, axis int, users map[*gorgonia.Node][]*gorgonia.Node) bool {
	below := graph.Children(n)
	switch kind, operator := graph.Kind(n.Op()), graph.Operator(n.Op()); {
	case kind == "sumOp":
		return slices.Contains(graph.FieldsOf(n.Op()).Ints("along"), axis)
	case kind == "elemBinOp" && operator == Mul.String():
		return slices.ContainsFunc(below, func(c *gorgonia.Node) bool { return isExp(c) && graph.Children(c)[0] == l })
	case kind == "elemBinOp" && (operator == Add.String() || operator == Sub.String()), kind == "elemUnaryOp" && operator == Neg.String():
	case kind == "reshapeOp": // of the leading axes
		from, to := graph.Shape(below[0]), graph.Shape(n)
		if axis != len(from)-1 || to[len(to)-1] != from[axis] {
			return false
		}
		axis = len(to) - 1
	default:
		return false
	}
	return !slices.ContainsFunc(users[n], func(u *gorgonia.Node) bool {
		return !isSize(u) && !evident(u, l, axis, users)
	})
}

// apart reports whether at most one operand of n depends on l, other than through l's Exp.
func apart(n, l *gorgonia.Node) bool {
	uses := 0
	for _, c := range graph.Children(n) {
		if dependsOn(c, l, map[*gorgonia.Node]bool{}) {
			uses++
		}
	}
	return uses <= 1
}

func dependsOn(n, l *gorgonia.Node, seen map[*gorgonia.Node]bool) bool {
	if n == l {
		return true
	}
	if seen[n] || n.Op() == nil {
		return false
	}
	seen[n] = true
	if isSize(n) {
		return false
	}
	return !(isExp(n) && graph.Children(n)[0] == l) && slices.ContainsFunc(graph.Children(n), func(c *gorgonia.Node) bool { return dependsOn(c, l, seen) })
}
