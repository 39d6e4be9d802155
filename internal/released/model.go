package released

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/dptrain/dptrain/internal/networks"
	"github.com/dptrain/dptrain/internal/safetensors"
)

// Model describes how to use released parameters: the making of samples, the network, and the meaning of its outputs.
// All of it is public.
type Model struct {
	Version    int        `json:"version"` // of this description; [Model.Files] writes 2 for all below Notated
	Dataset    string     `json:"dataset"`
	Network    string     `json:"model"` // by its name in package models
	Activation Activation `json:"activation"`
	Shape      []int      `json:"sample_shape"`          // of one sample, without the batch axis
	Features   string     `json:"features_of,omitempty"` // the public weights that compute samples from images, if any
	Vocabulary int        `json:"vocabulary,omitempty"`  // of texts: the number of words
	Outputs    int        `json:"outputs"`               // one for each class, or one number
	Task       string     `json:"task"`                  // classification or regression
	Classes    []string   `json:"classes,omitempty"`
	// Temperature is above 0: probabilities are softmax(outputs/Temperature).
	// A file without it, such as one of version 1, means 1, which [Read] returns. 0 writes none.
	Temperature float64 `json:"temperature,omitempty"`
	// Warning says that the model isn't better than one answer for every sample, and what may help; empty if the model
	// is better.
	Warning string `json:"warning,omitempty"`
	// Input describes how a file becomes samples, in the format of the package that reads such files.
	Input json.RawMessage `json:"input,omitempty"`
	// Image describes the images from which samples, or their features, are computed, if any.
	Image *Image `json:"image,omitempty"`
	// Tokens is the vocabulary that turns texts into tokens, if samples are texts.
	Tokens string `json:"tokens_of,omitempty"`
	// Layers are the network's layers. If there are none, the parameters have the layouts of version 1: see
	// [networks.ToPyTorch].
	Layers []networks.Layer `json:"layers,omitempty"`
	// Sum is the parameters' file's SHA-256 in hexadecimal; empty in older files. [Model.Files] sets it.
	Sum string `json:"parameters_sha256,omitempty"`
}

// Image describes images of bytes. A sample's value is (byte/255 - Mean)/Std, by the constants of its channel.
type Image struct {
	Shape    []int     `json:"shape"`    // channels, rows, columns
	Channels []string  `json:"channels"` // in their order: grey, or red, green and blue
	Mean     []float64 `json:"mean"`
	Std      []float64 `json:"std"`
}

// ImageOf describes images [channels, rows, columns], or returns nil without means, which texts don't have.
func ImageOf(shape []int, mean, std []float64) *Image {
	if len(mean) == 0 {
		return nil
	}
	channels := []string{"grey"}
	if len(mean) == 3 {
		channels = []string{"red", "green", "blue"}
	}
	return &Image{Shape: shape, Channels: channels, Mean: mean, Std: std}
}

// Tokens names the vocabulary of all texts: see package wordpiece.
const Tokens = "bert-base-cased"

// Activation is scale/(1+exp(-temperature x)) - offset.
type Activation struct {
	Scale       float64 `json:"scale"`
	Temperature float64 `json:"temperature"`
	Offset      float64 `json:"offset"`
}

// String returns the formula.
func (a Activation) String() string {
	return fmt.Sprintf("%v/(1+exp(-%v x)) - %v", a.Scale, a.Temperature, a.Offset)
}

// The tasks of a [Model].
const (
	Classification = "classification"
	Regression     = "regression"
)

// modelVersion grows when readers of the previous version would misunderstand the description: readers of version 1
// ignore the temperature, so their probabilities would be wrong. Readers take every version since oldestModelVersion.
const (
	modelVersion       = 2
	oldestModelVersion = 1
	// Notated is the version of models whose Input says how a file writes numbers, such as 1.234,5.
	Notated = 3
)

// The two files of a released model.
const (
	modelFile      = "model.json"
	parametersFile = "model.safetensors"
)

// Files returns the contents of the two files by their names, for parameters in the layouts of [networks.ToPyTorch].
// metadata repeats facts for a person who looks at the parameters' file.
func (m Model) Files(parameters []safetensors.Tensor, metadata map[string]string) (map[string][]byte, error) {
	tensors, err := safetensors.Encode(parameters, metadata)
	if err != nil {
		return nil, err
	}
	if t := m.Temperature; !(t >= 0) || math.IsInf(t, 1) {
		return nil, fmt.Errorf("release a model: temperature %v, want a number above 0, or 0 for none", t)
	}
	m.Version, m.Sum = max(m.Version, modelVersion), fmt.Sprintf("%x", sha256.Sum256(tensors))
	description, err := Indented(m)
	if err != nil {
		return nil, fmt.Errorf("encode model: %w", err)
	}
	return map[string][]byte{parametersFile: tensors, modelFile: description}, nil
}

// Indented returns a value as JSON for people.
func Indented(value any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false) // people read classes such as <=50K
	err := enc.Encode(value)
	return b.Bytes(), err
}

// ErrNoModel reports that there is no released model to read.
var ErrNoModel = errors.New("no released model")

// Read reads a released model from a run's directory, or from a copy of its folder released/.
func Read(dir string) (Model, []safetensors.Tensor, error) {
	for _, folder := range []string{filepath.Join(dir, "released"), dir} {
		file, err := os.ReadFile(filepath.Join(folder, parametersFile))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return Model{}, nil, fmt.Errorf("%w: %w", ErrNoModel, err)
		}
		parameters, _, err := safetensors.Decode(file)
		if err != nil {
			return Model{}, nil, fmt.Errorf("%w: %s: %w", ErrNoModel, filepath.Join(folder, parametersFile), err)
		}
		if p := infinite(parameters); p != "" { // training that ends like this releases no model
			return Model{}, nil, fmt.Errorf("%w: %s: parameter %q has values that aren't finite; restore the file", ErrNoModel, filepath.Join(folder, parametersFile), p)
		}
		model, err := readModel(filepath.Join(folder, modelFile))
		if sum := fmt.Sprintf("%x", sha256.Sum256(file)); err == nil && model.Sum != "" && model.Sum != sum {
			err = fmt.Errorf("%w: %s isn't the file that %s was released with: their SHA-256 differ; restore both", ErrNoModel, filepath.Join(folder, parametersFile), modelFile)
		}
		return model, parameters, err
	}
	return Model{}, nil, fmt.Errorf("%w in %s: it has no %s; give a run's folder, or its folder released", ErrNoModel, dir, parametersFile)
}

// infinite returns the name of a parameter that has values which aren't finite, or "".
func infinite(parameters []safetensors.Tensor) string {
	for _, p := range parameters {
		if slices.ContainsFunc(p.Data, func(v float32) bool { return v-v != 0 }) {
			return p.Name
		}
	}
	return ""
}

func readModel(path string) (Model, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Model{}, fmt.Errorf("%w: %s is missing: an older version of dptrain made this run, and didn't write what using the model takes; train again", ErrNoModel, path)
	}
	if err != nil {
		return Model{}, fmt.Errorf("%w: %w", ErrNoModel, err)
	}
	m := Model{Temperature: 1} // JSON without a temperature keeps it
	if err := json.Unmarshal(text, &m); err != nil {
		return Model{}, fmt.Errorf("%w: %s: %w", ErrNoModel, path, err)
	}
	if m.Version < oldestModelVersion || m.Version > Notated {
		return Model{}, fmt.Errorf("%w: %s: version %d, and this dptrain reads versions %d to %d; use the one that made it", ErrNoModel, path, m.Version, oldestModelVersion, Notated)
	}
	if m.Version == 1 && m.Temperature != 1 {
		return Model{}, fmt.Errorf("%w: %s: version 1 has no temperature, and this has %v; use the folder as it was released", ErrNoModel, path, m.Temperature)
	}
	if !(m.Temperature > 0) { // JSON has no infinities
		return Model{}, fmt.Errorf("%w: %s: temperature %v, want a number above 0", ErrNoModel, path, m.Temperature)
	}
	if !m.classed() {
		return Model{}, fmt.Errorf("%w: %s: %d outputs and %d classes", ErrNoModel, path, m.Outputs, len(m.Classes))
	}
	return m, nil
}

// classed reports whether each output has a class, unless classes have no names.
func (m Model) classed() bool {
	return m.Outputs > 0 && (len(m.Classes) == 0 || len(m.Classes) == m.Outputs)
}
