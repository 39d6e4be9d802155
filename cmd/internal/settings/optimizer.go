package settings

import (
	"cmp"
	"math"
	"slices"
)

// The optimizers, in the block [Training]. Each may be written without its "dp-", too.
const (
	OptimizerSGD      = "dp-sgd"
	OptimizerMomentum = "dp-momentum" // SGD with momentum
	OptimizerNesterov = "dp-nesterov" // SGD with Nesterov's momentum
	OptimizerAdam     = "dp-adam"
	OptimizerAdamW    = "dp-adamw" // Adam with decoupled weight decay
)

// Optimizers returns the names of the optimizers.
func Optimizers() []string {
	return []string{OptimizerSGD, OptimizerMomentum, OptimizerNesterov, OptimizerAdam, OptimizerAdamW}
}

// The schedules of the learning rate, after its warm-up.
const (
	ScheduleConstant = "constant"
	ScheduleLinear   = "linear" // falls to 0 in a line
	ScheduleCosine   = "cosine" // falls to 0 along half a period of a cosine
)

// Schedules returns the names of the schedules.
func Schedules() []string { return []string{ScheduleConstant, ScheduleLinear, ScheduleCosine} }

// Defaults of optimizers.
const (
	defaultMomentum = 0.9  // the usual value, of the papers that tune no momentum
	defaultDecay    = 0.01 // of dp-adamw only: PyTorch's
)

// named returns t with the full names of its choices, and without choices that equal the default, so that equal
// trainings have equal settings.
func (t Training) named() Training {
	if full := "dp-" + t.Optimizer; slices.Contains(Optimizers(), full) {
		t.Optimizer = full
	}
	if t.Schedule == ScheduleConstant {
		t.Schedule = ""
	}
	if t.Accumulate == 1 {
		t.Accumulate = 0
	}
	return t
}

// inherit takes missing momentum and weight decay from the lower layer if both choose the same optimizer, and otherwise
// keeps only given, the values of the layer itself.
func (t *Training) inherit(below, given Training) {
	if t.Optimizer != below.Optimizer {
		t.Momentum, t.WeightDecay = given.Momentum, given.WeightDecay
		return
	}
	t.Momentum, t.WeightDecay = cmp.Or(given.Momentum, below.Momentum), cmp.Or(given.WeightDecay, below.WeightDecay)
}

// filled returns t with its optimizer's default values.
func (t Training) filled() Training {
	if t.Momentum == nil && t.hasMomentum() {
		t.Momentum = new(defaultMomentum)
	}
	if t.WeightDecay == nil && t.Optimizer == OptimizerAdamW {
		t.WeightDecay = new(defaultDecay)
	}
	return t
}

func (t Training) hasMomentum() bool {
	return t.Optimizer == OptimizerMomentum || t.Optimizer == OptimizerNesterov
}

func (t Training) validate() error {
	momentum, decay := *cmp.Or(t.Momentum, new(0.0)), *cmp.Or(t.WeightDecay, new(0.0))
	return cmp.Or(
		oneOf("training.optimizer", t.Optimizer, Optimizers()...),
		oneOf("training.schedule", cmp.Or(t.Schedule, ScheduleConstant), Schedules()...),
		require(t.Momentum == nil || t.hasMomentum(),
			"training.momentum: %s has none; choose the optimizer momentum or nesterov, or leave it out", t.Optimizer),
		require(momentum >= 0 && momentum < 1, "training.momentum: must be at least 0 and below 1, such as 0.9, got %v", momentum),
		require(decay >= 0 && !math.IsInf(decay, 0), "training.weight_decay: must be a number, 0 or above, such as 0.01, got %v", decay),
		require(decay == 0 || t.Optimizer != OptimizerAdam,
			"training.weight_decay: dp-adam has none; choose the optimizer adamw, which takes it off parameters apart from gradients, or leave it out"),
		require(t.Warmup >= 0 && t.Warmup < 1,
			"training.warmup: must be a share of the steps, at least 0 and below 1, such as 0.05, got %v", t.Warmup),
		require(t.Accumulate >= 0 && t.Accumulate <= math.MaxInt32,
			"training.accumulate: must be 0 or a number of steps to an update, got %d", t.Accumulate),
		require(t.Average >= 0 && t.Average <= 1,
			"training.average: must be 0 for none, below 1 such as 0.999, or 1 for the mean of all updates, got %v", t.Average),
	)
}
