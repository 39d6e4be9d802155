package compile

import (
	"crypto/sha256"
	"slices"
)

// ID names a value of a program: its place in [Program.Values].
type ID int

// None marks a value that isn't there.
const None ID = -1

// Kind says where a value comes from.
type Kind uint8

// The kinds of values. Of the first two every sample has a row of its own; the others are the same for all samples.
const (
	Buffer Kind = iota // written by instructions
	Input              // column Index of the data
	Param              // parameter Index
	Const              // Data
	Shared             // a parameter or constant (Source) seen through View
)

// Type is what the elements of a value are.
type Type uint8

// The types.
const (
	Float32 Type = iota
	Int32
)

// Value is a tensor of a program, in row-major order. Shapes and sizes are those of one sample, without the batch axis.
type Value struct {
	Name   string
	Kind   Kind
	Type   Type
	Shape  []int
	Size   int       // the product of Shape
	Index  int       // of Input and Param
	Data   []float32 // of Const
	Source ID        // of Shared
	View   View      // of Shared, over Source
}

// Tensor names a program's input, parameter or output. Shape and Size leave out the batch axis.
type Tensor struct {
	Name  string
	Type  Type
	Shape []int
	Size  int
	Value ID
}

// Rule says what one parameter's per-sample gradient is made of, once Forward and Backward are done.
type Rule uint8

// The rules. A parameter that is used once has its gradient told by what it is made of, so that an engine need not have
// all of it in memory at any time.
const (
	RankOne      Rule = iota // g = xᵀδ, of one row each; ‖g‖² = ‖x‖²‖δ‖²
	OfConv                   // g = δ·im2col(x)
	Materialised             // g = G, which Backward has written
	OfRows                   // g = 0 [N, K], then g[X[r]] += δ[r] for each of Rows rows
)

// Reduction is how one parameter's clipped sum is made of the samples' rows, after the backward pass. Its δ or G has no
// other use by then, so that an engine may scale it where it is.
type Reduction struct {
	Param    int
	Rule     Rule
	X, Delta ID      // of RankOne, [K] and [N]; of OfConv, images and δ; of OfRows, integers [Rows] and [Rows, K]
	G        ID      // of Materialised
	Rows     int     // of OfRows
	K, N     int     // of RankOne and OfRows
	TransB   bool    // of RankOne: the parameter is stored as [N, K]
	Window   *Window // of OfConv
}

// Program is a compiled graph; see the package comment. It is immutable once compiled.
type Program struct {
	Inputs []Tensor
	Params []Tensor
	Output Tensor // Value is None if the source has no output, or the program is opaque

	Values     []Value
	Predict    []Instruction // computes Output
	Forward    []Instruction // computes the cost's terms, by itself
	Backward   []Instruction // leaves what the reductions name; writes nothing that Forward wrote
	Reductions []Reduction   // at most one for each parameter, in their order; none where the cost doesn't depend on it

	initial   [][]float32
	limits    []int // of an opaque program: what [Program.Range] makes its ranges of
	digest    [sha256.Size]byte
	missing   *RuleError
	reference *Reference
}

// Kept returns the values that reductions name: those that outlive Forward and Backward.
func Kept(reductions []Reduction) []ID {
	var ids []ID
	for _, r := range reductions {
		for _, id := range []ID{r.X, r.Delta, r.G} {
			if id != None {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// Digest is a hash of what the graph computes: operations, constants, shapes, and which node is computed from which.
func (p *Program) Digest() [sha256.Size]byte { return p.digest }

// Missing returns nil for a program of instructions that each sample goes through, and otherwise which operation has no
// rule. The program's only instruction is then [Opaque], and an engine that doesn't run one says so.
func (p *Program) Missing() *RuleError { return p.missing }

// Reference evaluates the graph of an [Opaque] instruction, one sample at a time; it is nil for every other program.
// Concurrent calls to it take turns.
func (p *Program) Reference() *Reference { return p.reference }

// Initial returns a copy of the parameters' values as they were bound in the graph, or nil if it binds none.
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

// PredictReads tells whether the output depends on input i. Of an [Opaque] program that isn't known; it reads all.
func (p *Program) PredictReads(i int) bool {
	id := p.Inputs[i].Value
	reads := func(in Instruction) bool { return slices.Contains(in.In, id) }
	return p.missing != nil || p.Output.Value == id || slices.ContainsFunc(p.Predict, reads)
}

// Size returns the number of parameters, counted one by one.
func (p *Program) Size() int {
	n := 0
	for _, t := range p.Params {
		n += t.Size
	}
	return n
}
