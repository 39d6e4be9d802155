// Package compile turns a Gorgonia expression graph into a step program: the instructions that compute,
// from one forward and one backward pass over a block of samples, the sum of their clipped gradients
//
//	S = Σ_i c_i g_i,   c_i = min(1, C/‖g_i‖),   g_i = ∂ cost_i / ∂ parameters.
//
// # What a graph must look like
//
// Every input has the batch as its first axis and the cost is a sum over samples, so that the cost of
// a batch is Σ_i cost_i and sample i appears in cost_i alone. [Compile] follows the batch axis through
// the graph by the meaning of each operation, never by comparing sizes (a batch of ten and ten classes
// look the same), and refuses with a [MixError] any operation that lets one sample see another. One that mixes
// nothing but depends on the batch size, or on a sample's place in the batch, is a [RefusedError].
//
// Inputs and parameters have names of their own: two without one, of one shape, are the same node to Gorgonia. What is
// neither is a constant by gorgonia.NewConstant, or an error: a value that somebody forgot to list would be frozen
// without a word. The cost isn't divided by the batch size, not even as a number: training divides by the expected
// batch size, and gradients made small twice would drown in noise that is made for the clipping norm.
//
// # The rewrite
//
// The graph is differentiated in reverse by rules of our own rather than by gorgonia.Grad: reverse mode reaches every
// use of a parameter with exactly the pair that the per-sample gradient is made of (what went in, x, and what comes
// back, δ), saves what the rules need in the form they need it, and leaves Gorgonia's own differentiation as an oracle
// ([Reference]), with central differences for a second opinion. For each use of a parameter there is a rule:
//
//	product     y = x W        g_i = x_iᵀ δ_i            ‖g_i‖² = ‖x_i‖² ‖δ_i‖²   Σ c_i g_i = xᵀ diag(c) δ
//	convolution y = W * x      g_i = δ_i im2col(x_i)     from the product itself, which is small
//	broadcast   y = x ∘ b      g_i = sum of ∂y·δ_i over the broadcast axes
//	lookup      y_r = W[t_r]   g_i[v] = Σ_{r: t_r = v} δ_r   ‖g_i‖² = Σ_v ‖g_i[v]‖²       each g_i[v] added to row v
//
// The first form of the norm is Goodfellow's ("Efficient per-example gradient computations", 2015). A
// product with several rows in each sample is formed and measured as a convolution's is. The norm could
// be had from two Gram matrices without it, Σ_pq (x_p·x_q)(δ_p·δ_q) (Li et al., "Large language models can
// be strong differentially private learners", 2022), and for few rows sooner; but there rows that nearly
// cancel leave a rounding error in place of a norm, and clip to it. What is summed must be what was
// measured. Where a parameter is used more than once the parts of g_i overlap and norms don't add: all its uses
// write into one per-sample gradient of that parameter, which is then measured and summed.
//
// The gradient of a table has as many rows that aren't 0 as the sample has different indices t, however long the table:
// it is said by its indices and δ ([OfRows]) and nobody forms it, unless the table has another use. Rows of δ with one
// index must be added before their norm is taken, which isn't the sum of theirs: two equal rows make one of twice the
// norm.
//
// # Integers
//
// An input of integers picks rows of tables ([Lookup]) and nothing else: an instruction reads it as it is, and what is
// computed of integers, a part of them or several together has no rule. [Program.Range] tells what rows there are.
// Indices beyond are refused with the data, before anything runs: no kernel looks.
//
// # One sample at a time
//
// An operation with no rule makes the whole graph one instruction ([Opaque]), which is Gorgonia's own gradient, one
// sample at a time: right and slow. It needs a graph that was built with a batch of one, because only there is "the
// gradient of one sample" defined without knowing what the operation does.
//
// That is so only while the operation is a function: one that keeps something of the sample before lets it see
// another after all, one that draws makes equal keys give unequal models, and one that prints lets samples out. So
// there is a list of what is known to be pure and to have the right gradient, by Go type, package included, and by
// operator; operations.md is made of it. Whatever isn't in it is a [RefusedError]. Every operation in it is in the
// zoo of package enginetest, where its gradient is held against differences. A sample's cost is evaluated before
// anything of its gradient; where the cost isn't finite there is no gradient. Errors never say what Gorgonia says of a
// failure, which may quote the sample.
//
// # Reading Gorgonia's graphs
//
// Gorgonia's graph finds nodes by an index that is stale once a node was taken out, and it takes nodes out by itself:
// the 1-x whose logarithm is asked for. So operands are read from the node itself, which takes reflection;
// everything that adds to a graph happens in a copy; and every node must still have the hash that it was made with,
// since Gorgonia hands nodes that it took out to whoever makes the next one, though others still use them.
//
// No graph makes [Compile] panic, and none that it takes should make an engine panic: shapes, windows and operands are
// checked beforehand, because some of Gorgonia's operations fail in goroutines of their own.
//
// # The program
//
// A [Program] is data that knows no device. Its [Value]s are typed tensors of one sample: some have a row for each
// sample (inputs, and what instructions write), the others are the same for all (parameters, constants, and views of
// them). [Instruction]s are in order; Predict computes the output, Forward the cost's terms, Backward what the
// gradients are made of. Each acts on every sample by itself, so that an engine takes as many samples at a time as it
// likes.
//
// What an operation computes stands beside its [Op]; what it takes, which operands it reads and what may be done in
// place stand in one row of a table. Where elements move, a strided [View] says from where or to where: a transposed
// value, a slice and a repeated axis are views that are read, a sum over an axis is a view that is added to. Where a
// window moves, a [Window] says so; nobody says that its places are written out.
//
// After Backward, a [Reduction] for each parameter says what its per-sample gradient is made of. That of a matrix, a
// filter or a table that is used once is said and not computed: an engine measures it, and sums it, in whatever room it
// has. What is measured must be what is summed.
//
// There is no plan of memory. [Lifetimes] tells from when to when a value is needed, [Instruction.InPlace] which result
// may lie where an operand did, and [Kept] what the reductions read; each engine lays out its own memory, and lowers
// the instructions to what suits its device. One that meets an operation it doesn't know refuses the program by its
// name: [Opaque] among them, which stands for a whole graph.
//
// [Program.String] lists a program for people, testdata has the listings of both models, and a graph has the same one
// each time and for every batch it is built with, but for what only a batch of one allows. [Program.Check] holds a
// program, whoever made it, against all that engines rely on; those that [Compile] returns pass it.
package compile
