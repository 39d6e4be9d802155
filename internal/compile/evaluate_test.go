package compile

import (
	"fmt"
	"strings"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// talkative is an operation that fails and quotes its operand.
type talkative struct {
	gorgonia.Iop
	panics bool
}

func (o talkative) Do(v ...gorgonia.Value) (gorgonia.Value, error) {
	if o.panics {
		panic(fmt.Sprint(v[0]))
	}
	return nil, fmt.Errorf("can't do %v", v[0])
}

// Gorgonia's message of a failure may quote the sample: the error names the operation and nothing else.
func TestFailuresDoNotQuoteTheSample(t *testing.T) {
	for _, panics := range []bool{false, true} {
		g := gorgonia.NewGraph()
		x := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithShape(1, 2), gorgonia.WithName("x"))
		n, err := gorgonia.ApplyOp(talkative{panics: panics}, x)
		if err != nil {
			t.Fatal(err)
		}
		r := &Reference{}
		err = r.evaluate([]*gorgonia.Node{x, n}, map[*gorgonia.Node]gorgonia.Value{
			x: tensor.New(tensor.WithShape(1, 2), tensor.WithBacking([]float32{0.8125, 7777})),
		})
		switch {
		case err == nil || !strings.Contains(err.Error(), "talkative"):
			t.Errorf("got %v, want an error that names the operation", err)
		case strings.Contains(err.Error(), "8125") || strings.Contains(err.Error(), "7777"):
			t.Errorf("%q quotes the sample", err)
		}
	}
}
