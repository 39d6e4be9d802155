// Package compile turns a Gorgonia expression graph into a step program. Call [Compile] with a [Source], and hand the
// [Program] to an engine. Its instructions compute, in one forward and one backward pass over many samples at once, the
// sum of their clipped gradients
//
//	S = Σ_i c_i g_i,   c_i = min(1, C/‖g_i‖),   g_i = ∂ cost_i / ∂ parameters.
//
// # What a graph must look like
//
// Every input has the batch as its first axis and the cost is a sum over samples, so that the cost of a batch is
// Σ_i cost_i and sample i appears in cost_i alone. [Compile] follows the batch axis through the graph by the meaning of
// each operation, never by comparing sizes (a batch of ten and ten classes look the same), but for the first axis of a
// random node, which has draws of its own for each sample. It refuses with a [MixError] any operation that lets one
// sample see another. An operation that mixes nothing but depends on the batch size, or on a sample's position in the
// batch, is a [RefusedError].
//
// Inputs and parameters have names of their own: Gorgonia takes two nameless nodes of one shape for the same node.
// Every other leaf must be listed as a constant or made by gorgonia.NewConstant: otherwise a parameter that its user
// forgot to list would stay constant without an error. Gorgonia takes two results of NewConstant for the same if it
// prints them alike, and prints the corners of large ones only; so large ones must be listed. The cost may be a mean
// by gorgonia.Mean, whose division by the batch size is left out. It must not be divided by a constant equal to that
// size. Training divides by the expected batch size, so such gradients would be divided twice, far below the
// clipping norm and so below the noise.
//
// # The rewrite
//
// Rules of this package differentiate the graph in reverse, instead of gorgonia.Grad. At every use of a parameter,
// reverse mode has exactly the two factors of the per-sample gradient: the operand x, and δ, the cost's gradient with
// respect to the result. Package enginetest checks the rules against Gorgonia's own differentiation and against central
// differences. There is a rule for each use of a parameter:
//
//	product     y = x W        g_i = x_iᵀ δ_i            ‖g_i‖² = ‖x_i‖² ‖δ_i‖²   Σ c_i g_i = xᵀ diag(c) δ
//	convolution y = W * x      g_i = δ_i im2col(x_i)     of the materialized g_i, which is small
//	broadcast   y = x ∘ b      g_i = sum of ∂y·δ_i over the broadcast axes
//	lookup      y_r = W[t_r]   g_i[v] = Σ_{r: t_r = v} δ_r   ‖g_i‖² = Σ_v ‖g_i[v]‖²       each g_i[v] added to row v
//
// The first form of the norm is Goodfellow's ("Efficient per-example gradient computations", 2015). If each sample has
// several rows, the gradient of a product is materialized and measured like that of a convolution. Two Gram matrices
// would give its norm without materializing it, Σ_pq (x_p·x_q)(δ_p·δ_q) (Li et al., "Large language models can be
// strong differentially private learners", 2022), which is faster for few rows. But if rows nearly cancel, the norm so
// computed is mostly rounding error, and the gradient would be clipped by a wrong norm. So an engine measures exactly
// the numbers that it sums. If a parameter is used more than once, the parts of g_i overlap and their norms don't add:
// all uses write into one per-sample gradient, which is then measured and summed.
//
// The gradient of a table has one nonzero row for each different index t of the sample, however long the table is. The
// program describes it by indices and δ ([OfRows]) and doesn't materialize it, unless the table has another use. Rows
// of δ with the same index must be added before their norm is taken: the sum of two equal rows has twice their norm.
//
// # Integers
//
// An input of integers indexes rows of tables ([Lookup]) and nothing else. An instruction reads the whole input
// unchanged. There is no rule for arithmetic on integers, for slices of an input of integers, or for concatenated
// inputs of integers. [Program.Range] bounds the indices. Engines refuse data outside this range before anything runs,
// since kernels don't check indices.
//
// # Refused operations
//
// An operation with state lets a sample influence the next one. The draws of dropout and of
// random nodes are engines', from the run's key; other operations that draw would give different models for the same
// key. So the package lists the
// operations that it knows, by Go type with its package, and by operator; operations.md is generated from the list.
// Every other operation is a [RefusedError], which says why and what to use instead. Package enginetest checks the
// gradient of every operation that isn't refused against differences.
//
// Gorgonia merges two equal operations on one node, and its hashes leave out the probability of a dropout and the
// epsilon of GroupNorm. So two dropouts of one node become the first one, with one probability and one draw.
// The hash of a random node has its shape and its name and not its law, and gorgonia.GaussianRandomNode gives none; so
// those without names are refused. Package models makes them with names.
//
// Package graph reads operands from the nodes, never through Gorgonia's graph. Compile also checks that every node
// still has its original hash, because Gorgonia reuses nodes that it has removed, even if other nodes still refer to
// them.
//
// No graph makes Compile panic, and no program that it returns should make an engine panic. Compile checks shapes,
// windows and operands first, because some of Gorgonia's operations panic in goroutines of their own.
//
// # The program
//
// A [Program] is data, independent of any device. Its [Value]s are typed tensors of one sample. Inputs, and results of
// instructions, have a row for each sample; parameters, constants and views of them are the same for all.
// [Instruction]s are in order: Predict computes the output, Forward the cost's terms, Backward the factors of the
// gradients. Each instruction acts on every sample by itself, so an engine may process any number of samples at a time.
//
// The comment beside each [Op] defines its arithmetic; one row of a table says which operands it takes and reads, and
// what it may do in place. A strided [View] gives the positions that elements move from or to: instructions read
// transposed values, slices and repeated axes through views, and sum over an axis by adding to a view. A [Window]
// describes a convolution or pooling; an engine needn't materialize the windows' contents.
//
// After Backward, a [Reduction] for each parameter describes its per-sample gradient. The gradient of a matrix, a
// filter or a table that is used once isn't materialized: an engine chooses how to measure and sum it. It must sum the
// same numbers that it measured.
//
// A program assigns no memory. [Lifetimes] returns the range of instructions that need each value,
// [Instruction.InPlace] returns the operand whose buffer a result may reuse, and [Kept] returns the values that the
// reductions read. Each engine lays out its own memory and lowers the instructions to its device. An engine refuses a
// program with an operation that it doesn't know, and names the operation.
//
// The folder testdata has listings of both models' programs. A graph has the same listing each time, and for every
// batch size for which it compiles. Compile ends with [Program.Check], which checks everything that engines rely on.
package compile
