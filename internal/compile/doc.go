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
// each operation, never by comparing sizes (a batch of ten and ten classes look the same), and refuses with a
// [MixError] any operation that lets one sample see another. An operation that mixes nothing but depends on the batch
// size, or on a sample's position in the batch, is a [RefusedError].
//
// Inputs and parameters have names of their own: Gorgonia takes two nameless nodes of one shape for the same node.
// Every other leaf must be a constant made by gorgonia.NewConstant: a parameter that its user forgot to list would be
// frozen without a word. The cost isn't divided by the batch size, not even as a number: training divides by the
// expected batch size, and gradients divided twice would drown in noise that is made for the clipping norm.
//
// # The rewrite
//
// Rules of this package differentiate the graph in reverse, instead of gorgonia.Grad. Reverse mode meets every use of a
// parameter with exactly the pair that the per-sample gradient is made of: the operand x, and δ, the cost's gradient
// with respect to the result. It keeps what the rules need in the form in which they need it. Gorgonia's own
// differentiation remains an independent oracle ([Reference]), with central differences for a second opinion. There is
// a rule for each use of a parameter:
//
//	product     y = x W        g_i = x_iᵀ δ_i            ‖g_i‖² = ‖x_i‖² ‖δ_i‖²   Σ c_i g_i = xᵀ diag(c) δ
//	convolution y = W * x      g_i = δ_i im2col(x_i)     of the materialized g_i, which is small
//	broadcast   y = x ∘ b      g_i = sum of ∂y·δ_i over the broadcast axes
//	lookup      y_r = W[t_r]   g_i[v] = Σ_{r: t_r = v} δ_r   ‖g_i‖² = Σ_v ‖g_i[v]‖²       each g_i[v] added to row v
//
// The first form of the norm is Goodfellow's ("Efficient per-example gradient computations", 2015). A product with
// several rows in each sample is materialized and measured as a convolution's gradient is. Two Gram matrices would give
// its norm without that, Σ_pq (x_p·x_q)(δ_p·δ_q) (Li et al., "Large language models can be strong differentially
// private learners", 2022), which is faster for few rows. But if rows nearly cancel, that norm is a rounding error, and
// the gradient would be clipped by the error. So an engine measures the numbers that it sums. If a parameter is used
// more than once, the parts of g_i overlap and their norms don't add: all uses write into one per-sample gradient,
// which is then measured and summed.
//
// The gradient of a table has one nonzero row for each different index t of the sample, however long the table is. The
// program describes it by indices and δ ([OfRows]) and doesn't materialize it, unless the table has another use. Rows
// of δ with the same index must be added before their norm is taken: two equal rows make one of twice the norm.
//
// # Integers
//
// An input of integers indexes rows of tables ([Lookup]) and nothing else. An instruction reads the input as it is;
// arithmetic on integers, parts of them and several inputs together have no rule. [Program.Range] bounds the indices.
// Engines refuse data beyond it before anything runs, since no kernel checks.
//
// # One sample at a time
//
// An operation with no rule makes the whole graph one instruction ([Opaque]), which is Gorgonia's own gradient, one
// sample at a time: right and slow. The graph must be built with a batch of one, because only then is "the gradient of
// one sample" defined without knowing what the operation does.
//
// This is right only for pure functions. An operation that keeps state lets one sample see the one before;
// one that draws makes equal keys give unequal models; one that prints lets samples out. So the package lists the
// operations that are known to be pure and to have the right gradient, by Go type with its package, and by operator;
// operations.md is generated from the list. Every other operation is a [RefusedError]. Package enginetest checks the
// gradient of every listed operation against differences. A sample's cost is evaluated before its gradient, and a
// sample whose cost isn't finite has none. Errors never quote Gorgonia's message of a failure, which may contain the
// sample.
//
// # Reading Gorgonia's graphs
//
// Gorgonia's graph finds nodes by an index that is stale once a node was taken out, and Gorgonia takes nodes out by
// itself: the 1-x whose logarithm is asked for. So this package reads operands from the node itself, by reflection; it
// adds nodes to copies of the graph only; and it checks that every node still has the hash that it was made with, since
// Gorgonia recycles the nodes that it took out, though others still use them.
//
// No graph makes [Compile] panic, and none that it takes should make an engine panic: it checks shapes, windows and
// operands first, because some of Gorgonia's operations fail in goroutines of their own.
//
// # The program
//
// A [Program] is data that knows no device. Its [Value]s are typed tensors of one sample. Inputs, and what instructions
// write, have a row for each sample; parameters, constants and views of them are the same for all. [Instruction]s are
// in order: Predict computes the output, Forward the cost's terms, Backward the factors of the gradients. Each
// instruction acts on every sample by itself, so that an engine takes as many samples at a time as it likes.
//
// The comment beside each [Op] defines its arithmetic; one row of a table says which operands it takes and reads, and
// what it may do in place. Where elements move, a strided [View] says from where or to where: instructions read
// transposed values, slices and repeated axes through views, and add to a view to sum over an axis. A [Window]
// describes a convolution or pooling, whose windows an engine needn't write out.
//
// After Backward, a [Reduction] for each parameter describes its per-sample gradient. The gradient of a matrix, a
// filter or a table that is used once isn't materialized: an engine measures and sums it in whatever memory it has. It
// must sum the numbers that it measured.
//
// A program assigns no memory. [Lifetimes] returns the range of instructions that need each value,
// [Instruction.InPlace] the operand whose buffer a result may reuse, and [Kept] the values that the reductions read;
// each engine lays out its own memory and lowers the instructions to its device. An engine that meets an operation it
// doesn't know refuses the program and names the operation. [Opaque], which stands for a whole graph, is one of them.
//
// [Program.String] lists a program for people, and testdata has the listings of both models. A graph has the same
// listing each time, and for every batch size for which it compiles. [Program.Check] checks all that engines rely on,
// in a program of any origin; programs that [Compile] returns pass it.
package compile
