// Package tuner tunes the hyperparameters of a private model privately.
//
// To tune, call [Calibrate] with [Settings] and a budget, [NewPlan] with its result and a key, and [Executor.Run] with
// the plan, or [Executor.RunAll] with several plans for the same data, whose trials may train elsewhere
// ([PrivateTrials], [Executor.RunTrials]). Calibrate finds the noise that meets the budget;
// CalibrateSteps finds the steps for a given noise. [Settings.Guarantee] returns the guarantee of settings as they are.
//
// # The method
//
// The method is from Koskela and Kulkarni, "Practical Differentially Private Hyperparameter Tuning with Subsampling":
//
//  1. Draw X1 from X: each sample with probability q, independently.
//  2. Draw K (in the paper from Poisson(μ)), then K candidates from the search space, independently and with
//     replacement. Train a model with each candidate on X1. Keep the candidate whose model has the best score on the
//     public test set.
//  3. Extrapolate its learning rate to the larger data set: DP-SGD multiplies it by (1−q)/q for variant
//     1 and by 1/q for variant 2; DP-Adam keeps it.
//  4. Train the final model on X \ X1 (variant 1) or on X (variant 2).
//
// The baseline (Papernot and Steinke, "Hyperparameter Tuning with Renyi Differential Privacy", 2021)
// does step 2 on X and returns the best trial's model.
//
// A [Plan] is pure data: [NewPlan] makes all random choices of steps 1 and 2 from the settings and a key. The same plan
// gives the same model to the last byte, however many workers there are and whichever plans are carried out beside it.
//
// # Spaces
//
// Candidates may differ in any hyperparameter. Learning rate and clipping norm don't change the privacy cost of a run;
// sampling rate, steps and noise determine it. A [Grid] is a list of candidates. A trial's candidate is drawn without
// looking at the data, so a trial is charged the average of the candidates' divergences (accountant.OneOf); the paper's
// accounting charges their maximum. The final run's candidate was chosen by looking at the data, so the final run is
// charged the pointwise maximum of the candidates' costs (accountant.MaxOver) in any accounting. Calibrate chooses the
// noise of each kind of run (one sampling rate and number of steps) so that all kinds cost about the same.
//
// A [Region] is a set of ranges. A candidate drawn from a region gets the noise or steps with which its Rényi curve
// stays below a line. The trial is charged the line.
//
// A learning rate that wins on q·n samples may be too large once step 3 has scaled it. [Settings.WithinFinalRate]
// removes such rates from the space by a rule that doesn't depend on the data.
//
// # Private parts
//
// [Settings.Event] covers the selected model and hyperparameters: [Released]. It doesn't cover K, X1, the size of X1,
// or the losing trials with their scores and timings: they are in [Private], [PrivateDraws], [PrivateProgress] and
// [PrivateOutcome]. n,
// q, the distribution of K and the search space are public. Training scales learning rates and expected batch sizes by
// the nominal sizes q·n, (1−q)·n and n, never by the drawn size of X1.
//
// # Odd outcomes
//
// K is neither capped nor redrawn. K = 0 is possible only for a Poisson distribution. The winner is then a fixed
// candidate: the first of a grid, or the middle of a region. The baseline then releases an untrained model. A trial
// that fails or diverges still counts as a trial: its score is -Inf, lower than any model's, and it has no model. Of
// trials with equal scores the earliest wins.
package tuner
