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
// look the same), and refuses with a [MixError] any operation that lets one sample see another.
//
// Inputs and parameters have names of their own: two without one, of one shape, are the same node to Gorgonia. What is
// neither is a constant by gorgonia.NewConstant, or an error: a value that somebody forgot to list would be frozen
// without a word. The cost isn't divided by the batch size, not even as a number: training divides by the expected
// batch size, and gradients made small twice would drown in noise that is made for the clipping norm.
//
// # The rewrite
//
// The graph is differentiated in reverse by rules of our own rather than by gorgonia.Grad: reverse mode
// reaches every use of a parameter with exactly the pair that the per-sample gradient is made of (what
// went in, x, and what comes back, δ), saves what the rules need in the form they need it, and leaves
// Gorgonia's own differentiation as an oracle ([Reference]), with central differences for a second opinion. For each use of a parameter there
// is a rule:
//
//	product     y = x W        g_i = x_iᵀ δ_i            ‖g_i‖² = ‖x_i‖² ‖δ_i‖²   Σ c_i g_i = xᵀ diag(c) δ
//	convolution y = W * x      g_i = δ_i im2col(x_i)     from the product itself, which is small
//	broadcast   y = x ∘ b      g_i = sum of ∂y·δ_i over the broadcast axes
//
// The first form of the norm is Goodfellow's ("Efficient per-example gradient computations", 2015). A
// product with several rows in each sample is formed and measured as a convolution's is. The norm could
// be had from two Gram matrices without it, Σ_pq (x_p·x_q)(δ_p·δ_q) (Li et al., "Large language models can
// be strong differentially private learners", 2022), and for few rows sooner; but there rows that nearly
// cancel leave a rounding error in place of a norm, and clip to it. What is summed must be what was
// measured. Where a parameter is used more than once the parts of g_i overlap and norms don't add: all its uses
// write into one per-sample gradient of that parameter, which is then measured and summed.
//
// # One sample at a time
//
// An operation with no rule makes the whole graph fall back to Gorgonia's own gradient, one sample at a time
// ([Opaque]): right and slow. It needs a graph that was built with a batch of one, because
// only there is "the gradient of one sample" defined without knowing what the operation does.
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
// # Engines
//
// A [Program] is data: values, instructions in order, and a memory plan in which buffers whose lives
// don't overlap share space. Sizes are per sample; an engine chooses how many samples it takes at once.
package compile
