// Package tuner tunes the hyperparameters of a private model privately (Koskela and Kulkarni,
// "Practical Differentially Private Hyperparameter Tuning with Subsampling", the sections on the method
// and on extrapolating hyperparameters).
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
// [Calibrate] finds the noise for which all of that together meets a budget, [CalibrateSteps] the steps for given noise, and
// [Settings.Guarantee] says what settings guarantee as they are.
//
// # Spaces
//
// Candidates differ in learning rate and clipping norm, which cost nothing, and in what their runs cost: sampling rate, steps
// and noise. A [Grid] is a list of candidates. A trial is charged the pointwise maximum over them, and so is the final run,
// because which candidate it takes depends on the data; so the noise of each kind of run is chosen to make them cost alike.
// A [Region] is drawn from ranges, and charged for a line that all its candidates are fitted below.
//
// A rate that wins on q·n samples may be too large once it is scaled to the final run. [Settings.WithinFinalRate] leaves
// such rates out, by a rule that is fixed before anybody looks at data.
//
// A [Plan] is pure data: [NewPlan] makes all random choices of steps 1 and 2 from the settings and a
// key. An [Executor] carries it out. The same plan gives the same model to the last byte, however many
// workers there are.
//
// # What is private
//
// [Settings.Event] covers the selected model and hyperparameters: [Released]. It does not cover K, X1
// or its size, nor the losing trials, their scores and timings: [Private], [PrivateDraws] and
// [PrivateProgress]. n, q, the distribution of K and the search space are public. Sizes that enter the training (learning
// rate scaling, expected batches) are nominal: q·n, (1−q)·n and n, never the drawn size of X1.
//
// # Odd outcomes
//
// K is neither capped nor redrawn. With K = 0, which Poisson alone can give, the answer is one that doesn't depend on the data: the
// first candidate of the grid or the middle of the region, for the baseline with its untrained initial model. A trial that fails
// or diverges (parameters that aren't finite) still counts: it scores -Inf, below every model, and
// leaves no model. Equal scores go to the earlier trial.
package tuner
