// Package train trains a Gorgonia model with DP-SGD, DP-Adam or any other optimizer of noisy gradients.
//
// To train one model, call [New] with an engine (cpu.New makes one), a [Model], a [Data] and [Settings], then
// [Trainer.Train]. To train several side by side on the same data, call [Load] once and [Loaded.TrainAll]; or
// [Loaded.Start] for each [Group], to control their states. [Calibrate] finds the noise multiplier that meets an
// epsilon, and [Privacy.Guarantee] returns the epsilon of given settings. [NewPredictor] computes the outputs of a
// trained model. Package models builds models, and package tuner tunes their hyperparameters privately.
//
// A [Keeper] keeps the states of runs in a [Store], so that they can go on in another process. A [Labelled] set of
// samples scores models: a [Classification], a [Regression], any samples by a [Measure] of your own ([NewScored]), or a
// [HeldOut] set of private samples.
//
// # One step
//
// At parameters θ, one step is the paper's Equation DP_SGD_update (Koskela and Kulkarni, "Practical
// Differentially Private Hyperparameter Tuning with Subsampling"):
//
//	θ ← θ − η ( 1/|B| Σ_{x ∈ B_j} clip(∇f(x, θ), C) + Z ),   Z ~ N(0, C²σ²/|B|² I)
//
// where the minibatch B_j holds each sample with probability γ, independently and afresh at every step, and |B| = γ·n
// is its expected size. DP-SGD multiplies the noisy mean gradient by η; DP-Adam gives the same noisy mean gradient to
// the update rule of Adam (Kingma and Ba, 2015). [Optimizer] has others, schedules and averages; a [Rule] is one of
// your own.
//
// Neighbouring data sets differ by adding or removing one sample. The nominal size of the data set is
// public.
//
// # What the guarantee depends on
//
// [Privacy] alone decides the guarantee: sampler, clipping, noise and the event that an accountant charges all come
// from one value of it. Nothing else (the model, the data, the [Optimizer], the engine and its options) changes the
// guarantee, unless it was chosen by looking at the data.
//
// A run reports its progress and nothing else. Drawn batch sizes, gradient norms and training losses carry no noise, so
// no function returns them.
//
// The package logs nothing. If training is slow because an engine doesn't support the model, [Loaded.Fallback] returns
// the reason.
package train
