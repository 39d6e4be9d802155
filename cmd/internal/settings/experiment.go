package settings

import (
	"bytes"
	"fmt"
	"math"

	"go.yaml.in/yaml/v3"
)

// Experiment holds all settings of a command that trains. Its random key isn't one of them.
type Experiment struct {
	Preset      string      `yaml:"preset,omitempty"` // the preset that the settings override: see [Presets]
	Dataset     string      `yaml:"dataset"`
	Data        Data        `yaml:"data,omitempty"`        // of data set [Files]
	TextLength  int         `yaml:"text_length,omitempty"` // tokens to which a text is cut; 0 if samples aren't texts
	Model       string      `yaml:"model"`
	Activation  Activation  `yaml:"activation"`
	Privacy     Privacy     `yaml:"privacy"`
	Training    Training    `yaml:"training"`
	Tuning      Tuning      `yaml:"tuning"`
	Performance Performance `yaml:"performance"`
}

// Activation is a tempered sigmoid, x -> Scale/(1+exp(-Temperature x)) - Offset; tanh is 2, 2, 1
// (Papernot et al., "Tempered Sigmoid Activations for Deep Learning with Differential Privacy").
type Activation struct {
	Scale       float64 `yaml:"scale"`
	Temperature float64 `yaml:"temperature"`
	Offset      float64 `yaml:"offset"`
}

// Privacy is the block that, together with the search space in [Tuning], determines the guarantee. Normally either
// Epsilon or NoiseMultiplier is set, and it determines the other. If Fixed is noise, both are set, and they determine
// the number of epochs; Epochs is ignored.
type Privacy struct {
	Epsilon         *float64 `yaml:"epsilon,omitempty"`          // total, over tuning and final training
	NoiseMultiplier *float64 `yaml:"noise_multiplier,omitempty"` // sigma, in units of the clipping norm
	Delta           float64  `yaml:"delta"`
	Accounting      string   `yaml:"accounting"`                // paper, tight or best
	Variant         string   `yaml:"variant"`                   // 1, 2 or baseline
	SubsetRate      float64  `yaml:"subset_rate"`               // q
	Repetitions     string   `yaml:"repetitions"`               // distribution of K, the trials; see [Repetitions]
	MeanRepetitions float64  `yaml:"mean_repetitions"`          // mu, the mean of K
	Shape           float64  `yaml:"repetitions_shape"`         // eta of negative-binomial, above -1
	MaxRepetitions  int      `yaml:"max_repetitions,omitempty"` // n of binomial; 0: twice the mean
	Fixed           string   `yaml:"fixed"`                     // [FixedEpochs] or [FixedNoise]
	SamplingRate    float64  `yaml:"sampling_rate"`             // gamma, the same in the trials and in the final run
	Epochs          float64  `yaml:"epochs"`                    // expected passes over the samples trained on
	ClippingNorm    float64  `yaml:"clipping_norm"`             // C
	Clipping        string   `yaml:"clipping,omitempty"`        // see [Clippings]; nothing means [ClippingFixed]
	Holdout         float64  `yaml:"holdout,omitempty"`         // share of private samples held out; 0: none
}

// The values of Privacy.Fixed, the setting that all runs share. Epsilon determines the other of the two.
const (
	FixedEpochs = "epochs" // epsilon determines the noise
	FixedNoise  = "noise"  // epsilon determines the epochs
)

// The rules of clipping: see train.Clipping.
const (
	ClippingFixed     = "fixed"
	ClippingAutomatic = "automatic"
)

// Clippings returns the names of the rules of clipping.
func Clippings() []string { return []string{ClippingFixed, ClippingAutomatic} }

// Fixed is the name of the distribution with a public number of trials, which is its mean.
const Fixed = "fixed"

// Binomial is the name of the distribution of K with a largest value, n.
const Binomial = "binomial"

// Repetitions returns the names of the distributions of K. All except poisson and binomial are conditioned on K >= 1,
// and a mean is the conditioned distribution's.
func Repetitions() []string {
	return []string{"poisson", "truncated-poisson", "geometric", "negative-binomial", "logarithmic", Binomial, Fixed}
}

// BinomialTrials returns n of a binomial distribution: the MaxRepetitions given, or twice the mean, rounded up.
func (p Privacy) BinomialTrials() int {
	if p.MaxRepetitions > 0 {
		return p.MaxRepetitions
	}
	return int(math.Ceil(2 * p.MeanRepetitions))
}

// Training is the block of the optimizer. It post-processes noisy gradients, so the block doesn't change the guarantee.
// [Resolve] fills in the momentum and the weight decay that an optimizer has by default.
type Training struct {
	Optimizer    string   `yaml:"optimizer"`              // see [Optimizers]
	LearningRate float64  `yaml:"learning_rate"`          // unless it is tuned
	Momentum     *float64 `yaml:"momentum,omitempty"`     // of dp-momentum and dp-nesterov, in [0, 1)
	WeightDecay  *float64 `yaml:"weight_decay,omitempty"` // λ: each update takes rate · λ off parameters
	Schedule     string   `yaml:"schedule,omitempty"`     // see [Schedules]; nothing means constant
	Warmup       float64  `yaml:"warmup,omitempty"`       // share of the steps over which the learning rate first rises
	Accumulate   int      `yaml:"accumulate,omitempty"`   // steps to an update; 0 means one
	Average      float64  `yaml:"average,omitempty"`      // 0: none; below 1: exponential; 1: the mean of all updates
}

// Performance is the block that can't change the guarantee.
type Performance struct {
	Workers int    `yaml:"workers"`      // cores to use; 0 means all
	Engine  string `yaml:"engine"`       // the engine to train on: see [Engines]
	Devices []int  `yaml:"devices,flow"` // indices of the GPUs to use; an empty list means all usable ones
}

// The engines that can be chosen.
const (
	EngineAuto = "auto" // GPUs if there are usable ones, else the CPU
	EngineCPU  = "cpu"
	EngineCUDA = "cuda" // GPUs; without any, training is an error
)

// Engines returns the names of the engines that can be chosen.
func Engines() []string { return []string{EngineAuto, EngineCPU, EngineCUDA} }

// YAML returns a settings file that resolves to the same settings.
func (e Experiment) YAML() ([]byte, error) {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(e); err != nil {
		return nil, fmt.Errorf("encode settings: %w", err)
	}
	return b.Bytes(), nil
}
