package engine

import (
	"context"

	"github.com/dptrain/dptrain/internal/random"
	"github.com/dptrain/dptrain/train/compile"
)

// Data is a set of samples as an engine reads them: one column for each batch input of the program.
// Column k holds Samples rows of Program.Inputs[k].Size float32 values, row after row.
type Data struct {
	Samples int
	Columns [][]float32
}

// Mechanism is the part of a job that the privacy guarantee depends on.
type Mechanism struct {
	SamplingProbability float64 // of each member at each step, independently; in [0, 1]
	NoiseMultiplier     float64 // standard deviation of the noise over ClippingNorm; 0 adds none
	ClippingNorm        float64 // C, the L2 bound of one sample's contribution
	ExpectedBatchSize   float64 // the divisor of the noisy sum
}

// Method names an optimizer.
type Method string

// The optimizers that engines implement.
const (
	SGD  Method = "dp-sgd"
	Adam Method = "dp-adam"
)

// Optimizer turns noisy mean gradients into parameter updates. Everything in it is post-processing.
type Optimizer struct {
	Method       Method
	LearningRate float64
	Beta1, Beta2 float64 // Adam only
	Epsilon      float64 // Adam only
}

// Job is one training run, as pure data. An engine must not change any slice in it.
type Job struct {
	Program   *compile.Program
	Data      *Data
	Members   []int32 // the samples in play, ascending; nil means all of Data
	Mechanism Mechanism
	Optimizer Optimizer
	Key       random.Key
	Trial     uint32      // names this run's streams under Key; unique among the runs of one key
	Initial   [][]float32 // parameters at step 0, in the order of Program.Params
}

// State is everything that a run carries from step to step. Together with its [Job] it determines all
// that follows: random streams are named by (key, trial, step), so a step number is their position.
type State struct {
	Step   int         `json:"step"` // steps done
	Params [][]float32 `json:"params"`
	First  [][]float32 `json:"first,omitempty"`  // Adam's first moment
	Second [][]float32 `json:"second,omitempty"` // Adam's second moment
}

// Run is a job under way on a device. Its methods are not safe for concurrent use.
type Run interface {
	// Steps takes n logical steps. On a cancelled context it stops after a whole step and returns
	// the context's error; State then tells how far it came.
	Steps(ctx context.Context, n int) error

	// State returns a copy of the run's state.
	State() State

	// Restore replaces the run's state, which must have the program's shapes.
	Restore(State) error

	// Predict returns the program's output for every sample of data, Program.Output.Size values
	// each, at the current parameters.
	Predict(ctx context.Context, data *Data) ([]float32, error)

	// PrivateClippedSum returns, at the current parameters, the clipped sum over exactly the given
	// samples and each sample's squared gradient norm. Neither carries noise: they are for tests
	// and must never leave a run.
	PrivateClippedSum(samples []int32) (sum [][]float32, squaredNorms []float64, err error)

	// Close gives back what the run holds on the device.
	Close() error
}

// Engine runs jobs on one kind of device.
type Engine interface {
	Name() string
	// Start checks the job and makes it ready on the device. A job that can't run is an error that
	// names the field at fault.
	Start(Job) (Run, error)
}
