package compile

import "crypto/sha256"

// ID names a value of a program.
type ID int

// None marks an operand or result that an instruction doesn't have.
const None ID = -1

// Kind says where a value lives.
type Kind uint8

// The kinds of values.
const (
	Buffer  Kind = iota // written by an instruction, one row a sample
	Indices             // as Buffer, of int32: where MaxPool found its maxima
	Input               // column Index of the data, one row a sample
	Param               // parameter Index, the same for all samples
	Const               // Data, the same for all samples
	Shared              // a parameter or constant (Source) spread over a sample's shape by Spread
)

// Value is a tensor of a program. Shapes and sizes are those of one sample, without the batch axis.
type Value struct {
	Name   string
	Kind   Kind
	Shape  []int
	Size   int
	Index  int       // of Input and Param
	Data   []float32 // of Const
	Source ID        // of Shared: element j is element Spread[j] of Source
	Spread []int32
}

// Tensor names a program's input, parameter or output. Shape and Size leave out the batch axis.
type Tensor struct {
	Name  string
	Shape []int
	Size  int
	Value ID
}

// Op is what an instruction does. In the comments x, y are In[0], In[1], z is Out and d· a gradient;
// Instructions replace their result; those from UnaryBack on add to it instead if Accumulate is set.
type Op uint8

// The operations. Every one acts on each sample of a block by itself.
const (
	Fill         Op = iota // z = Scalar
	Unary                  // z = Func(x)
	Binary                 // z = Func(x, y), elementwise; y may be Shared
	BinaryScalar           // z = Func(x, Scalar), or Func(Scalar, x) if Swap
	MatMul                 // z = x·y: x [Rows, K], y a parameter [K, N], or [N, K] if TransB
	Conv                   // z = y*x by Window; y is [Rows, K]; Aux = im2col(x): [N positions, K]
	MaxPool                // z = maximum of x over Window; Aux = where it was found
	Permute                // z = x with axes in the order Axes
	Gather                 // z[j] = x[Map[j]]
	Reduce                 // z[Map[j]] = Σ x[j]
	Softmax                // z = softmax of the rows of x [Rows, K]
	LogSoftmax             // z = log softmax of the rows of x
	Opaque                 // cost and gradient of the whole graph, evaluated as it stands by Program.Reference

	UnaryBack      // dx = dz·Func'(x); In = dz, x, z
	BinaryBack     // dx = ∂Func/∂(operand Side)·dz; In = dz, x, y, z
	ScalarBack     // dx = ∂Func/∂x·dz; In = dz, x, z
	MatMulBack     // dx = dz·yᵀ; In = dz, y
	ConvBack       // dx = col2im(dzᵀ·y); In = dz, y; Aux = scratch of im2col's size
	MaxPoolBack    // dx[Aux] = Σ dz; In = dz
	PermuteBack    // dx = dz with the axes put back; In = dz
	GatherBack     // dx[Map[j]] = Σ dz[j]; In = dz
	ReduceBack     // dx[j] = dz[Map[j]]; In = dz
	SoftmaxBack    // dx = z∘(dz − rowsum(dz∘z)); In = dz, z
	LogSoftmaxBack // dx = dz − exp(z)·rowsum(dz); In = dz, z

	GradMatMul // G = xᵀ·dz; In = dz, x; [N, K] if TransB
	GradConv   // G = dz·Aux; In = dz
	GradSpread // G[Map[j]] = Σ dz[j]; In = dz
)

// Window is the geometry of a convolution or pooling over channels × height × width.
type Window struct {
	C, H, W, KH, KW      int
	PadH, PadW           int // before the first row and column
	PadHEnd, PadWEnd     int // after the last
	StrideH, StrideW     int
	DilationH, DilationW int
	OutC, OutH, OutW     int
}

// Instruction is one step of a program.
type Instruction struct {
	Op         Op
	Func       Func
	In         []ID
	Out        ID
	Aux        ID
	Rows, K, N int
	TransB     bool
	Swap       bool
	Accumulate bool
	Side       int
	Scalar     float32
	Axes       []int
	Map        []int32
	Run        int // of GradSpread: Map[j] = j/Run throughout, if not 0
	Window     *Window
}

// NormRule is how one parameter's part of the per-sample squared norm is computed.
type NormRule uint8

// The rules.
const (
	RankOne      NormRule = iota // ‖x‖²‖δ‖²: one row a sample
	Materialised                 // ‖G‖², G the per-sample gradient itself
)

// Reduction is how one parameter's clipped sum is made of a block, after the backward pass.
type Reduction struct {
	Param    int
	Rule     NormRule
	X, Delta ID // of RankOne: [K] and [N]
	K, N     int
	TransB   bool // the parameter is stored as [N, K]
	G        ID   // of Materialised
}

// Program is a compiled graph; see the package comment. It is immutable once compiled.
type Program struct {
	Inputs []Tensor
	Params []Tensor
	Output Tensor // Value is None if the source has no output

	Values     []Value
	Predict    []Instruction // computes Output
	Forward    []Instruction // computes the cost's terms
	Backward   []Instruction // leaves x, δ and G for Reductions
	Reductions []Reduction   // one for each parameter that the cost depends on

	GradientPlan Plan // memory of Forward, Backward and Reductions
	PredictPlan  Plan // memory of Predict

	initial   [][]float32
	digest    [sha256.Size]byte
	missing   *RuleError
	reference *Reference
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
	_, read := p.PredictPlan.Offset[p.Inputs[i].Value]
	return read || p.missing != nil
}

// Size returns the number of parameters, counted one by one.
func (p *Program) Size() int {
	n := 0
	for _, t := range p.Params {
		n += t.Size
	}
	return n
}
