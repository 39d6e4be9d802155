package configs

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// Experiment has all settings of a run; its random key is no setting.
type Experiment struct {
	Preset      string      `yaml:"preset,omitempty"` // below the settings; see [Presets]
	Dataset     string      `yaml:"dataset"`
	Data        Data        `yaml:"data,omitempty"`        // of data set [Files]
	TextLength  int         `yaml:"text_length,omitempty"` // tokens that a text is cut to; 0 if samples aren't texts
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

// Privacy is the block that the guarantee depends on, with the search space in [Tuning]. Either Epsilon or
// NoiseMultiplier is set, and determines the other. If Fixed is noise, both are set, and determine the epochs in
// place of Epochs.
type Privacy struct {
	Epsilon         *float64 `yaml:"epsilon,omitempty"`          // total, over tuning and final training
	NoiseMultiplier *float64 `yaml:"noise_multiplier,omitempty"` // sigma, in units of the clipping norm
	Delta           float64  `yaml:"delta"`
	Accounting      string   `yaml:"accounting"`        // paper, tight or best
	Variant         string   `yaml:"variant"`           // 1, 2 or baseline
	SubsetRate      float64  `yaml:"subset_rate"`       // q
	Repetitions     string   `yaml:"repetitions"`       // distribution of K, the number of trials; see [Repetitions]
	MeanRepetitions float64  `yaml:"mean_repetitions"`  // mu, the mean of K
	Shape           float64  `yaml:"repetitions_shape"` // eta of negative-binomial, above -1; the others have none
	Fixed           string   `yaml:"fixed"`             // [FixedEpochs] or [FixedNoise]
	SamplingRate    float64  `yaml:"sampling_rate"`     // gamma, the same in the trials and in the final run
	Epochs          float64  `yaml:"epochs"`            // expected passes over the samples trained on
	ClippingNorm    float64  `yaml:"clipping_norm"`     // C
}

// The values of [Privacy.Fixed]: what is the same in all runs. A given epsilon determines the rest.
const (
	FixedEpochs = "epochs" // epsilon determines the noise
	FixedNoise  = "noise"  // epsilon determines the epochs
)

// Repetitions returns the names of the distributions of K. All except poisson are conditioned on K >= 1, and so are
// their means.
func Repetitions() []string {
	return []string{"poisson", "truncated-poisson", "geometric", "negative-binomial", "logarithmic"}
}

// Training is the block of the optimizer, which post-processes noisy gradients.
type Training struct {
	Optimizer    string  `yaml:"optimizer"`     // dp-sgd or dp-adam
	LearningRate float64 `yaml:"learning_rate"` // unless it is tuned
}

// Performance is the block that can't change the guarantee.
type Performance struct {
	Workers int    `yaml:"workers"`      // trials or microbatches computed at once; 0 means one for each core
	Engine  string `yaml:"engine"`       // that trains; see [Engines]
	Devices []int  `yaml:"devices,flow"` // indices of the GPUs to use; none means all usable ones
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
