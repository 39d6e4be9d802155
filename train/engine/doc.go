// Package engine says what a device must do to train privately: the job it is handed, the state it
// keeps, and the interface that every engine implements. It holds no arithmetic of its own.
//
// A [Job] is pure data. It names everything that one run of DP-SGD or DP-Adam depends on: the step
// program, the samples, the mechanism (sampling, clipping, noise), the optimizer and the random key.
// Two engines that are handed the same job draw the same minibatches and the same noise, because
// every draw comes from the key by name (package random), never from the engine's own schedule.
//
// One logical step, at parameters θ:
//
//	B = {i in Members : each kept independently with SamplingProbability}
//	S = Σ_{i∈B} min(1, C/‖g_i‖) g_i          g_i: gradient of sample i; not finite: contributes 0
//	G = (S + N(0, (NoiseMultiplier·C)² I)) / ExpectedBatchSize
//	θ ← Optimizer(θ, G)
//
// An empty B still adds noise and updates. The divisor is the expected batch size, never |B|.
//
// An engine runs a whole job rather than one product at a time so that a device can keep sampler,
// noise and parameters to itself; package cpu is the definition, package enginetest the suite that
// every engine passes.
package engine
