package compile

import "fmt"

// Op is the operation of an instruction. The constants' comments begin with the operands in the order of
// [Instruction.In]: x and y are operands of the forward pass, z is its result, d· a gradient and G a parameter's
// per-sample gradient. V[j] is the position, in the viewed value, of element j of [Instruction.View]. With Accumulate,
// a result that begins at 0 here begins at its old value.
type Op uint8

// The operations.
const (
	Unary        Op = iota // (x) z = Func(x)
	Binary                 // (x, y) z = Func(x, y), elementwise; one of them may be Shared
	BinaryScalar           // (x) z = Func(x, Scalar), or Func(Scalar, x) if Swap
	MatMul                 // (x, y) z = x·y: x [Rows, K], y [K, N], or [N, K] if TransB
	Conv                   // (x, y) z = y·im2col(x)ᵀ by Window: y [OutC, C·KH·KW], not flipped
	MaxPool                // (x) z = maximum of x over Window, the first of equals; Where = its position in x
	Gather                 // (x) z[j] = x[V[j]]; an x common to all samples is copied for each
	Scatter                // (x) z = 0, then z[V[j]] += x[j]
	Softmax                // (x) z = softmax of the rows of x [Rows, K]
	LogSoftmax             // (x) z = log softmax of the rows of x [Rows, K]
	Normalize              // (x) z = (x − mean)/√(variance + Scalar) of the rows of x [Rows, K]; variance by K
	Product                // (x, y) z[g] = x[g]·y[g], g < Groups: MatMul's shapes; x[g] is [K, Rows] if TransA
	Dropout                // (x) z[j] = x[j]/Scalar if draw Draw + j of the sample keeps it, else 0; its own way back
	Lookup                 // (ids, y) z[r] = y[ids[r]], row by row: ids [Rows], y [N, K], z [Rows, K]
	Normals                // () z = standard normals: pair j from words j of the sample's draws from Draw on
	Uniforms               // () z[j] = the top 24 bits of draw Draw + j of the sample, over 2²⁴

	Fill           // () dz = Scalar
	UnaryBack      // (dz, x, z) dx = dz·Func'(x)
	BinaryBack     // (dz, x, y, z) dx = dz·∂Func/∂(operand Side)
	ScalarBack     // (dz, x, z) dx = dz·∂Func/∂x
	MatMulBack     // (dz, y) dx = dz·yᵀ
	ConvBack       // (dz, y) dx = col2im(dzᵀ·y)
	MaxPoolBack    // (dz, where) dx = 0, then dx[where[j]] += dz[j]
	SoftmaxBack    // (dz, z) dx = z∘(dz − rowsum(dz∘z))
	LogSoftmaxBack // (dz, z) dx = dz − exp(z)·rowsum(dz)
	NormalizeBack  // (dz, x) dx = (dz − rowmean(dz) − z∘rowmean(dz∘z))/√(variance + Scalar), as in Normalize

	GradMatMul // (dz, x) G = xᵀ·dz: [K, N], or [N, K] if TransB
	GradConv   // (dz, x) G = dz·im2col(x): [OutC, C·KH·KW]
	GradSpread // (dz) G = 0, then G[V[j]] += dz[j]
	GradLookup // (dz, ids) G = 0 [N, K], then G[ids[r]] += dz[r], row by row
	opEnd
)

// String returns the operation's name.
func (op Op) String() string { return op.row().name }

// row returns the operation's row of opTable.
func (op Op) row() *opRow {
	if op >= opEnd {
		return &opRow{name: fmt.Sprintf("operation %d", uint8(op))}
	}
	return &opTable[op]
}

// opRow describes an operation, except for the arithmetic. Listings, checks and lifetimes read it.
type opRow struct {
	name     string
	operands []operand
	result   string // "" if it has none

	// size returns the size of the result (k = -1) or of operand k by the geometry. A nil size, or 0, means the
	// result's size.
	size func(in *Instruction, k int) int
	// reads reports whether the instruction reads operand k; nil if it reads all.
	reads func(in *Instruction, k int) bool

	takes   funcs // the elementwise functions that it takes
	fields  field // its fields besides operands
	inPlace bool  // the result may overwrite the first operand
	adds    bool  // it takes Accumulate
	once    bool  // it may be in Program.Prepare
}

// operand describes one operand of an operation.
type operand struct {
	name string
	role role
}

// role is the set of values that may be an operand.
type role uint8

const (
	perSample role = iota // a row of floats for each sample
	positions             // a row of positions for each sample, written by MaxPool
	indices               // an input of integers, each below N by [Program.Range]
	stored                // a parameter, a constant or a derived value, as it is stored
	either                // a row of floats for each sample, or Shared
	copied                // a row of floats for each sample, or stored
)

// funcs is a set of elementwise functions.
type funcs uint8

const (
	noFunc funcs = iota
	ofOne
	ofTwo
	ofTwoSmooth // two operands and a gradient: no comparisons
)

// field is a set of an instruction's fields.
type field uint16

const (
	hasWindow field = 1 << iota
	hasView
	hasProduct // Rows, K, N
	hasRows    // Rows, K
	hasTable   // Rows, K, N
	hasWhere
	hasGroups // Groups, TransA
)

// opTable has one row for each operation.
var opTable = [opEnd]opRow{
	Unary:        {name: "unary", result: "z", operands: []operand{{"x", perSample}}, takes: ofOne, inPlace: true, once: true},
	Binary:       {name: "binary", result: "z", operands: []operand{{"x", either}, {"y", either}}, takes: ofTwo, inPlace: true, once: true},
	BinaryScalar: {name: "scalar", result: "z", operands: []operand{{"x", perSample}}, takes: ofTwo, inPlace: true, once: true},
	MatMul:       {name: "matmul", result: "z", operands: []operand{{"x", perSample}, {"y", stored}}, fields: hasProduct, size: sizeOfProduct(rowsN, rowsK, kN)},
	Conv:         {name: "conv", result: "z", operands: []operand{{"x", perSample}, {"y", stored}}, fields: hasWindow, size: sizeOfWindow((*Window).outSize, (*Window).inSize, (*Window).filterSize)},
	MaxPool:      {name: "maxpool", result: "z", operands: []operand{{"x", perSample}}, fields: hasWindow | hasWhere, size: sizeOfWindow((*Window).outSize, (*Window).inSize)},
	Gather:       {name: "gather", result: "z", operands: []operand{{"x", copied}}, fields: hasView, adds: true, size: sizeOfView(-1), once: true},
	Scatter:      {name: "scatter", result: "z", operands: []operand{{"x", perSample}}, fields: hasView, adds: true, size: sizeOfView(0), once: true},
	Softmax:      {name: "softmax", result: "z", operands: []operand{{"x", perSample}}, fields: hasRows, size: sizeOfProduct(rowsK, rowsK), once: true},
	LogSoftmax:   {name: "logsoftmax", result: "z", operands: []operand{{"x", perSample}}, fields: hasRows, size: sizeOfProduct(rowsK, rowsK), once: true},
	Normalize:    {name: "normalize", result: "z", operands: []operand{{"x", perSample}}, fields: hasRows, size: sizeOfProduct(rowsK, rowsK)},
	Product:      {name: "product", result: "z", operands: []operand{{"x", perSample}, {"y", perSample}}, fields: hasProduct | hasGroups, adds: true, size: sizeOfProduct(groupsOf(rowsN), groupsOf(rowsK), groupsOf(kN)), once: true},
	Dropout:      {name: "dropout", result: "z", operands: []operand{{"x", perSample}}, adds: true},
	Lookup:       {name: "lookup", result: "z", operands: []operand{{"ids", indices}, {"y", stored}}, fields: hasTable, size: sizeOfProduct(rowsK, rowsOnly, kN)},
	Normals:      {name: "normals", result: "z"},
	Uniforms:     {name: "uniforms", result: "z"},

	Fill:           {name: "fill", result: "dz"},
	UnaryBack:      {name: "∂unary", result: "dx", operands: []operand{{"dz", perSample}, {"x", perSample}, {"z", perSample}}, takes: ofOne, inPlace: true, adds: true, reads: readsOfUnary},
	BinaryBack:     {name: "∂binary", result: "dx", operands: []operand{{"dz", perSample}, {"x", either}, {"y", either}, {"z", perSample}}, takes: ofTwoSmooth, inPlace: true, adds: true, reads: readsOfBinary},
	ScalarBack:     {name: "∂scalar", result: "dx", operands: []operand{{"dz", perSample}, {"x", perSample}, {"z", perSample}}, takes: ofTwoSmooth, inPlace: true, adds: true, reads: readsOfScalar},
	MatMulBack:     {name: "∂matmul", result: "dx", operands: []operand{{"dz", perSample}, {"y", stored}}, fields: hasProduct, adds: true, size: sizeOfProduct(rowsK, rowsN, kN)},
	ConvBack:       {name: "∂conv", result: "dx", operands: []operand{{"dz", perSample}, {"y", stored}}, fields: hasWindow, adds: true, size: sizeOfWindow((*Window).inSize, (*Window).outSize, (*Window).filterSize)},
	MaxPoolBack:    {name: "∂maxpool", result: "dx", operands: []operand{{"dz", perSample}, {"where", positions}}, fields: hasWindow, adds: true, size: sizeOfWindow((*Window).inSize, (*Window).outSize, (*Window).outSize)},
	SoftmaxBack:    {name: "∂softmax", result: "dx", operands: []operand{{"dz", perSample}, {"z", perSample}}, fields: hasRows, adds: true, size: sizeOfProduct(rowsK, rowsK, rowsK)},
	LogSoftmaxBack: {name: "∂logsoftmax", result: "dx", operands: []operand{{"dz", perSample}, {"z", perSample}}, fields: hasRows, adds: true, size: sizeOfProduct(rowsK, rowsK, rowsK)},

	NormalizeBack: {name: "∂normalize", result: "dx", operands: []operand{{"dz", perSample}, {"x", perSample}}, fields: hasRows, adds: true, size: sizeOfProduct(rowsK, rowsK, rowsK)},

	GradMatMul: {name: "grad matmul", result: "G", operands: []operand{{"dz", perSample}, {"x", perSample}}, fields: hasProduct, adds: true, size: sizeOfProduct(kN, rowsN, rowsK)},
	GradConv:   {name: "grad conv", result: "G", operands: []operand{{"dz", perSample}, {"x", perSample}}, fields: hasWindow, adds: true, size: sizeOfWindow((*Window).filterSize, (*Window).outSize, (*Window).inSize)},
	GradSpread: {name: "grad spread", result: "G", operands: []operand{{"dz", perSample}}, fields: hasView, adds: true, size: sizeOfView(0)},
	GradLookup: {name: "grad lookup", result: "G", operands: []operand{{"dz", perSample}, {"ids", indices}}, fields: hasTable, adds: true, size: sizeOfProduct(kN, rowsK, rowsOnly)},
}

// rowsN, rowsK, kN and rowsOnly return the sizes of operands and results of products and lookups.
func rowsN(in *Instruction) int    { return size(in.Rows, in.N) }
func rowsK(in *Instruction) int    { return size(in.Rows, in.K) }
func kN(in *Instruction) int       { return size(in.K, in.N) }
func rowsOnly(in *Instruction) int { return size(in.Rows) }

// groupsOf returns the size of Groups matrices.
func groupsOf(of func(*Instruction) int) func(*Instruction) int {
	return func(in *Instruction) int { return size(in.Groups, of(in)) }
}

// sizeOfProduct returns a size function that reads Rows, K and N: of the result, then of each operand.
func sizeOfProduct(of ...func(*Instruction) int) func(in *Instruction, k int) int {
	return func(in *Instruction, k int) int { return of[k+1](in) }
}

// sizeOfWindow returns a size function that reads Window: of the result, then of each operand.
func sizeOfWindow(of ...func(*Window) int) func(in *Instruction, k int) int {
	return func(in *Instruction, k int) int { return of[k+1](in.Window) }
}

// sizeOfView returns a size function for an operation with a view. The side that isn't viewed, the result (-1) or
// operand 0, has the view's size; the viewed side may be larger, and its size is 0.
func sizeOfView(notViewed int) func(in *Instruction, k int) int {
	return func(in *Instruction, k int) int {
		if k == notViewed {
			return in.View.Size()
		}
		return 0
	}
}

// readsOfUnary, readsOfBinary and readsOfScalar report whether a derivative reads operand k.
func readsOfUnary(in *Instruction, k int) bool {
	return k == 0 || k == 1 && in.Func.needsX() || k == 2 && in.Func.needsY()
}

func readsOfBinary(in *Instruction, k int) bool {
	switch in.Func {
	case Add, Sub:
		return k == 0
	case Mul:
		return k == 0 || k == 2-in.Side
	}
	return true
}

func readsOfScalar(in *Instruction, k int) bool {
	switch in.Func {
	case Add, Sub, Mul:
		return k == 0
	}
	return true
}
