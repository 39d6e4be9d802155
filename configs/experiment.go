package configs

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// Experiment is everything that a run depends on, except its random key.
type Experiment struct {
	Preset      string      `yaml:"preset,omitempty"` // what the settings stand on; see [Presets]
	Dataset     string      `yaml:"dataset"`
	Data        Data        `yaml:"data,omitempty"` // of data set [Files]
	TextLength  int         `yaml:"text_length,omitempty"` // tokens that a text is cut to; 0 for samples that are no texts
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

// Privacy is the block that the guarantee depends on, with the search space in [Tuning]. Of Epsilon and NoiseMultiplier
// exactly one is set, and the other follows from it; unless Fixed is noise: then both are, and Epochs don't count.
type Privacy struct {
	Epsilon         *float64 `yaml:"epsilon,omitempty"`          // total, over tuning and final training
	NoiseMultiplier *float64 `yaml:"noise_multiplier,omitempty"` // sigma, in units of the clipping norm
	Delta           float64  `yaml:"delta"`
	Accounting      string   `yaml:"accounting"`        // paper, tight or best
	Variant         string   `yaml:"variant"`           // 1, 2 or baseline
	SubsetRate      float64  `yaml:"subset_rate"`       // q
	Repetitions     string   `yaml:"repetitions"`       // the distribution of K, the number of trials; see [Repetitions]
	MeanRepetitions float64  `yaml:"mean_repetitions"`  // mu, the mean of K
	Shape           float64  `yaml:"repetitions_shape"` // eta of negative-binomial, above -1; the others have none
	Fixed           string   `yaml:"fixed"`             // [FixedEpochs] or [FixedNoise]
	SamplingRate    float64  `yaml:"sampling_rate"`     // gamma, the same in the trials and in the final run
	Epochs          float64  `yaml:"epochs"`            // expected passes over the samples in play
	ClippingNorm    float64  `yaml:"clipping_norm"`     // C
}

// What is fixed of each run; the rest follows from a given epsilon.
const (
	FixedEpochs = "epochs" // the noise follows
	FixedNoise  = "noise"  // the epochs follow
)

// Repetitions returns the names of the distributions of K. All but poisson are on K >= 1, and it is their mean
// given that which counts as the mean.
func Repetitions() []string {
	return []string{"poisson", "truncated-poisson", "geometric", "negative-binomial", "logarithmic"}
}

// Training says how noisy gradients become updates, which is post-processing.
type Training struct {
	Optimizer    string  `yaml:"optimizer"`     // dp-sgd or dp-adam
	LearningRate float64 `yaml:"learning_rate"` // where it isn't tuned
}

// Performance is the block that can't change the guarantee.
type Performance struct {
	Workers int    `yaml:"workers"`      // trials or blocks of samples at work at once; 0 means one for each core
	Engine  string `yaml:"engine"`       // what trains: see [Engines]
	Devices []int  `yaml:"devices,flow"` // the GPUs to use, by their numbers; none means all that are usable
}

// The engines that can be chosen.
const (
	EngineAuto = "auto" // GPUs if there are usable ones, else the CPU
	EngineCPU  = "cpu"
	EngineCUDA = "cuda" // GPUs, or else it is an error
)

// Engines returns the names of the engines that can be chosen.
func Engines() []string { return []string{EngineAuto, EngineCPU, EngineCUDA} }

// YAML returns the settings as a file that resolves to them again.
func (e Experiment) YAML() ([]byte, error) {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(e); err != nil {
		return nil, fmt.Errorf("encode settings: %w", err)
	}
	return b.Bytes(), nil
}
