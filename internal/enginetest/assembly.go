package enginetest

import (
	"fmt"
	"math/rand/v2"

	"github.com/dptrain/dptrain/internal/compile"
)

// assembly is a step program under construction, by hand: what its instructions compute is its gradient and its output,
// so that every element of every result shows.
type assembly struct {
	p      compile.Program
	params [][]float32
	r      *rand.Rand
	parts  []compile.ID // of the output, written by Predict
}

func assemble(seed uint64) *assembly {
	return &assembly{p: compile.Program{Output: compile.Tensor{Value: compile.None}}, r: rand.New(rand.NewPCG(seed, 1))}
}

func (a *assembly) value(v compile.Value, shape ...int) compile.ID {
	v.Name, v.Shape, v.Size = fmt.Sprint("v", len(a.p.Values)), shape, compile.ViewOf(shape).Size()
	a.p.Values = append(a.p.Values, v)
	return compile.ID(len(a.p.Values) - 1)
}

func (a *assembly) tensor(id compile.ID, t compile.Type) compile.Tensor {
	v := a.p.Values[id]
	return compile.Tensor{Name: v.Name, Type: t, Shape: v.Shape, Size: v.Size, Value: id}
}

// input adds an input of floats, ids one of integers.
func (a *assembly) input(shape ...int) compile.ID {
	id := a.value(compile.Value{Kind: compile.Input, Index: len(a.p.Inputs)}, shape...)
	a.p.Inputs = append(a.p.Inputs, a.tensor(id, compile.Float32))
	return id
}

func (a *assembly) ids(rows int) compile.ID {
	id := a.value(compile.Value{Kind: compile.Input, Type: compile.Int32, Index: len(a.p.Inputs)}, rows)
	a.p.Inputs = append(a.p.Inputs, a.tensor(id, compile.Int32))
	return id
}

// param adds a parameter, constant a constant, with standard normal values.
func (a *assembly) param(shape ...int) compile.ID {
	id := a.value(compile.Value{Kind: compile.Param, Index: len(a.p.Params)}, shape...)
	a.p.Params = append(a.p.Params, a.tensor(id, compile.Float32))
	a.params = append(a.params, a.normals(a.p.Values[id].Size))
	return id
}

func (a *assembly) constant(shape ...int) compile.ID {
	return a.value(compile.Value{Kind: compile.Const, Data: a.normals(compile.ViewOf(shape).Size())}, shape...)
}

func (a *assembly) normals(n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(a.r.NormFloat64())
	}
	return out
}

// shared adds a view of a parameter, constant or derived value.
func (a *assembly) shared(source compile.ID, v compile.View) compile.ID {
	return a.value(compile.Value{Kind: compile.Shared, Source: source, View: v}, v.Shape...)
}

// add appends an instruction to a list, with a new value of the given kind as its result.
func (a *assembly) add(list *[]compile.Instruction, kind compile.Kind, in compile.Instruction, shape ...int) compile.ID {
	in.Out, in.Where = a.value(compile.Value{Kind: kind}, shape...), compile.None
	*list = append(*list, in)
	return in.Out
}

// derive adds a derived value.
func (a *assembly) derive(in compile.Instruction, shape ...int) compile.ID {
	return a.add(&a.p.Prepare, compile.Derived, in, shape...)
}

// forward adds a value of the forward pass.
func (a *assembly) forward(in compile.Instruction, shape ...int) compile.ID {
	return a.add(&a.p.Forward, compile.Buffer, in, shape...)
}

// whole returns the instruction that copies a value.
func (a *assembly) whole(id compile.ID) compile.Instruction {
	return compile.Instruction{Op: compile.Gather, In: []compile.ID{id}, View: compile.ViewOf(a.p.Values[id].Shape)}
}

// released makes what an instruction computes the gradient of a new parameter, and returns its buffer.
func (a *assembly) released(in compile.Instruction, shape ...int) compile.ID {
	g := a.add(&a.p.Backward, compile.Buffer, in, shape...)
	a.p.Reductions = append(a.p.Reductions, compile.Reduction{
		Param: len(a.p.Params), Rule: compile.Materialised, X: compile.None, Delta: compile.None, G: g,
	})
	a.param(shape...)
	return g
}

// observe makes a value of the forward pass the gradient of a new parameter.
func (a *assembly) observe(id compile.ID) { a.released(a.whole(id), a.p.Values[id].Shape...) }

// try adds an instruction with a result of the given shape everywhere: to Forward, to Predict unless it draws or is a
// derivative, which no prediction has, to Backward, and, if it can, added to another value there. It returns the value
// of the forward pass.
func (a *assembly) try(in compile.Instruction, accumulates bool, shape ...int) compile.ID {
	z := a.forward(in, shape...)
	a.observe(z)
	if in.Op != compile.Dropout && in.Op < compile.Fill {
		a.parts = append(a.parts, a.add(&a.p.Predict, compile.Buffer, in, shape...))
	}
	a.released(in, shape...)
	if accumulates {
		in.Out, in.Where, in.Accumulate = a.released(a.whole(a.constant(shape...)), shape...), compile.None, true
		a.p.Backward = append(a.p.Backward, in)
	}
	return z
}

// done joins the output's parts, each added to what is there already, and checks the program.
func (a *assembly) done(t TB) *compile.Program {
	t.Helper()
	size := 0
	for _, id := range a.parts {
		size += a.p.Values[id].Size
	}
	out := compile.None
	if size > 0 {
		out = a.value(compile.Value{Kind: compile.Buffer}, size)
		a.p.Output = a.tensor(out, compile.Float32)
	}
	at := 0
	for k, id := range a.parts {
		n := a.p.Values[id].Size
		a.p.Predict = append(a.p.Predict, compile.Instruction{
			Op: compile.Scatter, In: []compile.ID{id}, Out: out, Where: compile.None, Accumulate: k > 0,
			View: compile.View{Offset: at, Shape: []int{n}, Strides: []int{1}},
		})
		at += n
	}
	if err := a.p.Check(); err != nil {
		t.Fatalf("%v\n%v", err, &a.p)
	}
	return &a.p
}
