package compile

import (
	"crypto/sha256"
	"slices"
)

// ID identifies a value of a program: it is an index of [Program.Values].
type ID int

// None means no value.
const None ID = -1

// Kind is the origin of a value.
type Kind uint8

// The kinds of values. A Buffer and an Input have a row for each sample; the others are the same for all samples.
const (
	Buffer  Kind = iota // written by instructions
	Input               // column Index of the data
	Param               // parameter Index
	Const               // Data
	Shared              // a parameter, constant or derived value (Source) seen through View
	Derived             // computed from parameters and constants, by Program.Prepare
)

// Type is the type of a value's elements.
type Type uint8

// The element types.
const (
	Float32 Type = iota
	Int32
)

// Value is a tensor of a program, in row-major order. Shape and Size are of one sample, without the batch axis.
type Value struct {
	Name   string
	Kind   Kind
	Type   Type
	Shape  []int
	Size   int       // the product of Shape
	Index  int       // Input and Param
	Data   []float32 // Const
	Source ID        // Shared
	View   View      // Shared: a view of Source
}

// Tensor describes an input, a parameter or the output of a program. Shape and Size are without the batch axis.
type Tensor struct {
	Name  string
	Type  Type
	Shape []int
	Size  int
	Value ID
}

// Rule is the way in which a parameter's per-sample gradient g follows from values that Forward and Backward wrote.
type Rule uint8

// The rules. All but Materialised describe g by its factors, so that no engine needs all of g in memory.
const (
	RankOne      Rule = iota // g = xᵀδ, of one row each; ‖g‖² = ‖x‖²‖δ‖²
	OfConv                   // g = δ·im2col(x)
	Materialised             // g = G, which Backward writes
	OfRows                   // g = 0 [N, K], then g[X[r]] += δ[r] for each of Rows rows
)

// Reduction describes one parameter's clipped sum, taken after the backward pass. By then nothing else uses its Delta
// or G, so an engine may scale them in place.
type Reduction struct {
	Param    int
	Rule     Rule
	X, Delta ID      // RankOne: [K] and [N]; OfConv: images and δ; OfRows: integers [Rows] and [Rows, K]
	G        ID      // Materialised
	Rows     int     // OfRows
	K, N     int     // RankOne and OfRows
	TransB   bool    // RankOne: the parameter is stored as [N, K]
	Window   *Window // OfConv
}

// DrawsMultiple divides [Program].Draws and [Instruction].Draw: the number of draws in a block of the generator.
const DrawsMultiple = 16

// Program is a compiled graph; the package comment describes it. It is immutable.
type Program struct {
	Inputs []Tensor
	Params []Tensor
	Output Tensor // Value is None if the source has no output

	Values     []Value
	Prepare    []Instruction // computes the derived values, once for all samples, before the other lists
	Predict    []Instruction // computes Output
	Forward    []Instruction // computes the cost's terms, independently of Predict
	Backward   []Instruction // computes the values that Reductions read; writes no value of Forward
	Reductions []Reduction   // in the order of Params; none for a parameter that the cost doesn't depend on
	// Draws is the number of random draws of one sample in one step, a multiple of DrawsMultiple. Dropout, Normals
	// and Uniforms use them.
	Draws int

	// Decay holds a factor for each parameter, or is nil. It comes from terms of the cost that belong to no sample,
	// weight decay, with the gradient Decay·θ with respect to parameter θ. The caller adds this gradient to the mean
	// gradient: unchanged if DecayOfMean, otherwise divided by the expected batch size, like the sum of the samples'
	// gradients.
	Decay       []float64
	DecayOfMean bool

	initial [][]float32
	digest  [sha256.Size]byte
}

// Kept returns the values that the reductions read after the backward pass.
func Kept(reductions []Reduction) []ID {
	var ids []ID
	for _, r := range reductions {
		ids = append(ids, slices.DeleteFunc([]ID{r.X, r.Delta, r.G}, none)...)
	}
	return ids
}

func none(id ID) bool { return id == None }

// Digest returns a hash of the graph's computation: operations, constants, shapes and edges. Names and bound values
// don't change it.
func (p *Program) Digest() [sha256.Size]byte { return p.digest }

// Initial returns a copy of the values that the graph binds to the parameters, or nil if it binds none.
func (p *Program) Initial() [][]float32 {
	if p.initial == nil {
		return nil
	}
	out := make([][]float32, len(p.initial))
	for i, v := range p.initial {
		out[i] = append([]float32(nil), v...)
	}
	return out
}

// PredictReads reports whether the output depends on input i.
func (p *Program) PredictReads(i int) bool {
	id := p.Inputs[i].Value
	reads := func(in Instruction) bool { return slices.Contains(in.In, id) }
	return p.Output.Value == id || slices.ContainsFunc(p.Predict, reads)
}

// String returns the type's name.
func (t Type) String() string { return [...]string{Float32: "float32", Int32: "int32"}[t] }

// String returns the kind's name.
func (k Kind) String() string {
	return [...]string{Buffer: "buffer", Input: "input", Param: "param", Const: "const", Shared: "shared", Derived: "derived"}[k]
}
