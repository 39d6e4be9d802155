package compile_test

import (
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/compile"
)

// find returns the first instruction of a list with an operation.
func find(t *testing.T, code []compile.Instruction, op compile.Op) *compile.Instruction {
	t.Helper()
	for i := range code {
		if code[i].Op == op {
			return &code[i]
		}
	}
	t.Fatalf("there is no %v in the program: the test shows nothing", op)
	return nil
}

// Each case is the CNN's program with one fault, and the error that names it.
func TestCheckRefusesCorruptions(t *testing.T) {
	const none = compile.None
	type program = *compile.Program
	for name, c := range map[string]struct {
		want  string
		spoil func(t *testing.T, p program)
	}{
		"operand out of range": {"no value 999", func(t *testing.T, p program) { find(t, p.Forward, compile.Unary).In[0] = 999 }},
		"negative operand":     {"no value -5", func(t *testing.T, p program) { find(t, p.Forward, compile.Conv).In[1] = -5 }},
		"result out of range":  {"no value 999", func(t *testing.T, p program) { p.Backward[3].Out = 999 }},
		"no result":            {"no value -1", func(t *testing.T, p program) { p.Forward[0].Out = none }},
		"operand missing":      {"1 operands, not 2", func(t *testing.T, p program) { in := find(t, p.Forward, compile.MatMul); in.In = in.In[:1] }},
		"operand too many": {"3 operands, not 2", func(t *testing.T, p program) {
			in := find(t, p.Forward, compile.MatMul)
			in.In = append(in.In, 0)
		}},
		"unknown operation":       {"operation 200", func(t *testing.T, p program) { p.Forward[2].Op = 200 }},
		"unknown function":        {"doesn't take function", func(t *testing.T, p program) { find(t, p.Forward, compile.Unary).Func = 63 }},
		"function of two for one": {"doesn't take function", func(t *testing.T, p program) { find(t, p.Forward, compile.Unary).Func = compile.Add }},
		"derivative of a comparison": {"doesn't take function", func(t *testing.T, p program) {
			find(t, p.Backward, compile.BinaryBack).Func = compile.Lt
		}},
		"function without use": {"doesn't take function", func(t *testing.T, p program) { find(t, p.Forward, compile.MatMul).Func = compile.Tanh }},
		"third side":           {"no side 2", func(t *testing.T, p program) { find(t, p.Backward, compile.BinaryBack).Side = 2 }},
		"read before it is written": {"isn't written yet", func(t *testing.T, p program) {
			p.Forward[0], p.Forward[1] = p.Forward[1], p.Forward[0]
		}},
		"operand of the backward pass in the forward pass": {"isn't written yet", func(t *testing.T, p program) {
			find(t, p.Forward, compile.Softmax+1).In[0] = p.Backward[0].Out
		}},
		"written twice":                 {"written already", func(t *testing.T, p program) { p.Backward = append(p.Backward, p.Backward[0]) }},
		"added to before it is written": {"isn't written yet", func(t *testing.T, p program) { find(t, p.Backward, compile.MatMulBack).Accumulate = true }},
		"added to by what can't":        {"doesn't accumulate", func(t *testing.T, p program) { find(t, p.Forward, compile.Conv).Accumulate = true }},
		"its own operand":               {"its own result", func(t *testing.T, p program) { in := find(t, p.Forward, compile.Unary); in.Out = in.In[0] }},
		"result that is an input":       {"can't be value 0", func(t *testing.T, p program) { find(t, p.Backward, compile.Fill).Out = 0 }},
		"backward pass over the forward": {"was written by forward", func(t *testing.T, p program) {
			find(t, p.Backward, compile.Fill).Out = find(t, p.Forward, compile.LogSoftmax).Out
		}},
		"parameter as an operand of each sample": {"can't be value", func(t *testing.T, p program) {
			find(t, p.Forward, compile.Unary).In[0] = p.Params[0].Value
		}},
		"sample's value as a matrix": {"can't be value 0", func(t *testing.T, p program) { find(t, p.Forward, compile.MatMul).In[1] = 0 }},
		"places as floats": {"can't be value", func(t *testing.T, p program) {
			find(t, p.Forward, compile.MatMul).In[0] = find(t, p.Forward, compile.MaxPool).Where
		}},
		"floats as places":        {"can't write places", func(t *testing.T, p program) { in := find(t, p.Forward, compile.MaxPool); in.Where = 22 }},
		"wrong size of a product": {"size", func(t *testing.T, p program) { find(t, p.Forward, compile.MatMul).K++ }},
		"product of no rows":      {"its sizes are", func(t *testing.T, p program) { find(t, p.Forward, compile.MatMul).Rows = 0 }},
		"product that overflows": {"its sizes are", func(t *testing.T, p program) {
			in := find(t, p.Forward, compile.MatMul)
			in.K, in.N = 1<<62, 1<<62
		}},
		"window gone":             {"no window", func(t *testing.T, p program) { find(t, p.Forward, compile.Conv).Window = nil }},
		"window of no stride":     {"no size", func(t *testing.T, p program) { find(t, p.Forward, compile.Conv).Window.StrideH = 0 }},
		"window beyond its image": {"doesn't fit", func(t *testing.T, p program) { find(t, p.Forward, compile.Conv).Window.PadH-- }},
		"pooling of padding": {"isn't one of pooling", func(t *testing.T, p program) {
			w := find(t, p.Forward, compile.MaxPool).Window
			w.PadH, w.OutH = 2, w.OutH+4
		}},
		"view gone": {"elements, not", func(t *testing.T, p program) { p.Values[11].View = compile.ViewOf(nil) }},
		"view beyond its value": {"isn't inside", func(t *testing.T, p program) {
			find(t, p.Backward, compile.GradSpread).View.Offset = 1
		}},
		"view of negative stride": {"isn't inside", func(t *testing.T, p program) {
			find(t, p.Backward, compile.GradSpread).View.Strides[0] = -1
		}},
		"view that overflows": {"isn't inside", func(t *testing.T, p program) {
			find(t, p.Backward, compile.GradSpread).View.Strides[0] = 1 << 62
		}},
		"view of other axes": {"isn't inside", func(t *testing.T, p program) {
			v := &find(t, p.Backward, compile.GradSpread).View
			v.Strides = v.Strides[:0]
		}},
		"shared value of a sample's": {"source is of kind", func(t *testing.T, p program) { p.Values[11].Source = 0 }},
		"shape without its size":     {"doesn't have its size", func(t *testing.T, p program) { p.Values[12].Size++ }},
		"empty shape":                {"doesn't have its size", func(t *testing.T, p program) { p.Values[12].Shape, p.Values[12].Size = []int{0, 3}, 0 }},
		"unknown kind":               {"unknown kind", func(t *testing.T, p program) { p.Values[12].Kind = 77 }},
		"unknown type":               {"unknown type", func(t *testing.T, p program) { p.Values[12].Type = 77 }},
		"parameter of integers":      {"holds integers", func(t *testing.T, p program) { p.Values[2].Type = compile.Int32 }},
		"value that is no parameter": {"isn't param 99", func(t *testing.T, p program) { p.Values[2].Index = 99 }},
		"two parameters in one":      {"isn't param", func(t *testing.T, p program) { p.Params[1] = p.Params[0] }},
		"input of another size":      {"isn't value", func(t *testing.T, p program) { p.Inputs[0].Size-- }},
		"output that isn't written":  {"doesn't write", func(t *testing.T, p program) { p.Predict = p.Predict[:3] }},
		"output without a value":     {"has no value", func(t *testing.T, p program) { p.Output.Value = none }},
		"output of places": {"holds integers", func(t *testing.T, p program) {
			at := find(t, p.Predict, compile.MaxPool).Where
			v := p.Values[at]
			p.Output = compile.Tensor{Name: "out", Type: v.Type, Shape: v.Shape, Size: v.Size, Value: at}
		}},
		"output of a parameter":     {"doesn't write", func(t *testing.T, p program) { p.Output = p.Params[7] }},
		"reduction of no parameter": {"there is none", func(t *testing.T, p program) { p.Reductions[0].Param = 8 }},
		"parameter reduced twice":   {"comes twice", func(t *testing.T, p program) { p.Reductions[1] = p.Reductions[0] }},
		"reduction by no rule":      {"rule is unknown", func(t *testing.T, p program) { p.Reductions[0].Rule = 9 }},
		"reduction of nothing":      {"no value -1", func(t *testing.T, p program) { p.Reductions[1].G = none }},
		"reduction of another size": {"values of", func(t *testing.T, p program) { p.Reductions[4].K++ }},
		"reduction to another parameter": {"of", func(t *testing.T, p program) {
			p.Reductions[4].Param, p.Reductions[6].Param = p.Reductions[6].Param, p.Reductions[4].Param
		}},
		"δ that isn't there": {"has been written", func(t *testing.T, p program) {
			p.Backward = p.Backward[:len(p.Backward)-2]
		}},
		"δ that the forward pass needs": {"another use", func(t *testing.T, p program) { p.Reductions[4].Delta = 22 }},
		"G of two":                      {"another use", func(t *testing.T, p program) { p.Reductions[3].G = p.Reductions[5].G }},
		"δ of two":                      {"another use", func(t *testing.T, p program) { p.Reductions[6].X = p.Reductions[4].Delta }},
	} {
		t.Run(name, func(t *testing.T) {
			p := model(t, "cnn", 1)
			if err := p.Check(); err != nil {
				t.Fatal(err)
			}
			c.spoil(t, p)
			if err := p.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
			_ = p.String() // must not panic
		})
	}
}
