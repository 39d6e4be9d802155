// Package tuner tunes the hyperparameters of a private model privately.
//
// To tune, call [Calibrate] with [Settings] and a budget, [NewPlan] with its result and a key, and [Executor.Run] with
// the plan. [CalibrateSteps] finds the steps for given noise instead of the noise, and [Settings.Guarantee] returns the
// guarantee of settings as they are.
//
// # The method
//
// It is the one of Koskela and Kulkarni, "Practical Differentially Private Hyperparameter Tuning with Subsampling":
//
//  1. Draw X1 from X: each sample with probability q, independently.
//  2. Draw K, in the paper from Poisson(μ), then K candidates from the search space, independently and
//     with replacement; train each on X1; keep the one with the best score on the public test set.
//  3. Extrapolate its learning rate to the larger data set: DP-SGD multiplies it by (1−q)/q for variant
//     1 and by 1/q for variant 2; DP-Adam keeps it.
//  4. Train the final model on X \ X1 (variant 1) or on X (variant 2).
//
// The baseline (Papernot and Steinke, "Hyperparameter Tuning with Renyi Differential Privacy", 2021)
// does step 2 on X and returns the best trial's model.
//
// A [Plan] is pure data: [NewPlan] makes all random choices of steps 1 and 2 from the settings and a key. The same plan
// gives the same model to the last byte, however many workers there are.
//
// # Spaces
//
// Candidates differ in learning rate and clipping norm, which cost nothing, and in sampling rate, steps and noise,
// which decide the cost of their runs. A [Grid] is a list of candidates. Each trial is charged the pointwise maximum
// over them, and so is the final run, because the choice of its candidate depends on the data. [Calibrate] gives each
// kind of run the noise that makes all cost about the same. A [Region] is a set of ranges. Each of its candidates is
// fitted below a line, and charged the line.
//
// A rate that wins on q·n samples may be too large after step 3. [Settings.WithinFinalRate] leaves out such rates, by a
// rule that doesn't depend on the data.
//
// # What is private
//
// [Settings.Event] covers the selected model and hyperparameters: [Released]. It does not cover K, X1
// or its size, nor the losing trials, their scores and timings: [Private], [PrivateDraws] and
// [PrivateProgress]. n, q, the distribution of K and the search space are public. Training scales learning rates and
// expected batch sizes by the nominal sizes q·n, (1−q)·n and n, never by the drawn size of X1.
//
// # Odd outcomes
//
// K is neither capped nor redrawn. With K = 0, which only a Poisson distribution gives, the winner is a candidate that
// doesn't depend on the data: the first of a grid, or the middle of a region. For the baseline its model is the
// untrained one. A trial that fails or diverges still counts: it scores -Inf, below every model, and leaves no model.
// Equal scores go to the earlier trial.
package tuner
