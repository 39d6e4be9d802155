// Package train trains a Gorgonia model with DP-SGD or DP-Adam.
//
// One step, at parameters θ, is the paper's Equation DP_SGD_update (Koskela and Kulkarni, "Practical
// Differentially Private Hyperparameter Tuning with Subsampling"):
//
//	θ ← θ − η ( 1/|B| Σ_{x ∈ B_j} clip(∇f(x, θ), C) + Z ),   Z ~ N(0, C²σ²/|B|² I)
//
// where the minibatch B_j holds each sample with probability γ, independently and afresh at every
// step, and |B| = γ·n is its expected size. DP-Adam (Kingma and Ba, 2015) takes the same noisy mean
// gradient where DP-SGD multiplies it by η.
//
// [Privacy] decides the guarantee: it is turned into one [Mechanism],
// which alone couples sampler, clipping, noise and the event that an accountant charges. The options of an engine
// decide how fast the same result comes. Everything else (the model, the data, the [Optimizer], the
// key) neither adds to nor takes from the guarantee, as long as it isn't chosen by looking at the data.
//
// A [Trainer] is one run on an engine (package engine). [Load] compiles a model once and holds it with its data for any
// number of runs, of which [Loaded.Start] lets some advance side by side, each as if it were alone. Runs tell only how
// far they came: drawn batch sizes, gradient norms and training losses carry no noise, so there is no way to ask for
// them. What may be slow but is right, such as an engine that was fallen back on, is returned ([Loaded.Fallback]), not
// logged. A [Predictor] is a model with parameters that it keeps, which computes outputs and trains nothing.
//
// Neighbouring data sets differ by adding or removing one sample. The nominal size of the data set is
// public.
package train
