package accountant

// DPSGD returns the event of a whole training run: steps adaptive releases of a clipped gradient sum over
// Poisson-sampled batches. samplingRate is the expected batch size over the number of samples; noiseMultiplier is
// relative to the clipping norm, the sensitivity of the sum with fixed and with automatic clipping. DP-Adam and any
// other post-processing of the noisy gradients cost the same.
func DPSGD(samplingRate, noiseMultiplier float64, steps int) Event {
	return SelfComposed{Event: PoissonSampled{SamplingProbability: samplingRate, Event: Gaussian{NoiseMultiplier: noiseMultiplier}}, Count: steps}
}

// Variant1 returns the event of tuning on a random subset of rate q and training the final model on the rest. r is the
// distribution of the number of trials and base the event of one training run: the trials and the final run have the
// same noise multiplier, sampling rate and number of steps.
func Variant1(q float64, r Repetitions, base Event) Event { return Variant1Of(q, r, base, base) }

// Variant1Of is [Variant1] for trials and a final run of different events: with several candidates a trial is [OneOf]
// them, and the final run, whose candidate is chosen by looking at the data, [MaxOver] them.
func Variant1Of(q float64, r Repetitions, trial, final Event) Event {
	return SubsetThenRest{SamplingProbability: q, Tune: Baseline(r, trial), Base: final}
}

// Variant2 returns the event of tuning on a random subset of rate q and training the final model on all of the data. r
// and base mean the same as in [Variant1].
func Variant2(q float64, r Repetitions, base Event) Event { return Variant2Of(q, r, base, base) }

// Variant2Of is [Variant2] for trials and a final run of different events, as [Variant1Of].
func Variant2Of(q float64, r Repetitions, trial, final Event) Event {
	return Composed{Events: []Event{PoissonSampled{SamplingProbability: q, Event: Baseline(r, trial)}, final}}
}

// Baseline returns the event of tuning on all of the data and releasing the best model that the tuning trained.
func Baseline(r Repetitions, base Event) Event {
	return SelectBest{Event: base, Repetitions: r}
}

// HeldOutScores returns the event of a sample that is held out from training: the best of several trials by their noisy
// scores, and then a score of the released model. noiseMultiplier is relative to the most that one sample can change a
// score. The event of a whole plan is [Parallel] of this event and the event of its runs: see docs/proofs/held-out.md.
func HeldOutScores(r Repetitions, noiseMultiplier float64) Event {
	score := Gaussian{NoiseMultiplier: noiseMultiplier}
	return Composed{Events: []Event{SelectBest{Event: score, Repetitions: r}, score}}
}
