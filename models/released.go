package models

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/dptrain/dptrain/internal/datasets"
	"github.com/dptrain/dptrain/internal/released"
	"github.com/dptrain/dptrain/train"
)

// Released is a model of [New] with its parameters, in files: model.json and model.safetensors in one folder, which
// docs/model-format.md describes. The command's predict and Python's dptrain.load use them. All of it is public.
type Released struct {
	Network    string // as New takes it, and so are Shape, Outputs and Options
	Shape      []int
	Outputs    int
	Options    Options           // Batch and Double aren't written
	Parameters []train.Parameter // of the graph, in its order: those of a [train.Result]

	Dataset     string   // the known data set that samples are of, or "files"
	Classes     []string // the names of the outputs; nil if these are 0, 1, … or a number
	Temperature float64  // probabilities are the softmax of outputs divided by it; 0 means 1
	// Schema, of "files", is the table.Schema that makes samples of rows, as JSON. [Open] returns nil without one.
	Schema json.RawMessage
}

// Save writes the model's two files to a folder, which it makes if it is missing.
func (r Released) Save(dir string) error {
	m := released.Model{
		Dataset: r.Dataset, Network: r.Network, Activation: released.Activation(cmp.Or(r.Options.Activation, Tanh)),
		Shape: r.Shape, Vocabulary: r.Options.Vocabulary, Outputs: r.Outputs, Task: released.Classification,
		Classes: r.Classes, Temperature: r.Temperature,
	}
	if r.Outputs == 1 {
		m.Task = released.Regression
	}
	if m.Vocabulary != 0 {
		m.Tokens = released.Tokens
	}
	if n, err := datasets.NormalisationOf(r.Dataset); err == nil && len(r.Shape) == 3 {
		m.Image = released.ImageOf(r.Shape, n.Mean, n.Std)
	}
	var err error
	if r.Schema != nil {
		if m.Input, err = json.Marshal(input{r.Schema}); err != nil {
			return fmt.Errorf("save a model: schema: %w", err)
		}
	}
	files, err := released.Release(m, r.Parameters)
	if err != nil {
		return fmt.Errorf("save a model: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// input is what model.json says of files.
type input struct {
	Table json.RawMessage `json:"table,omitempty"`
}

// Open reads a released model from a folder with its two files, or from a run's folder of the command, whatever version
// released it. [New] builds its network:
//
//	r, err := models.Open("runs/mnist")
//	…
//	network, err := models.New(r.Network, r.Shape, r.Outputs, r.Options)
//
// and [train.NewPredictor] takes that and the values of r.Parameters.
func Open(dir string) (*Released, error) {
	m, tensors, err := released.Read(dir)
	if err != nil {
		return nil, err
	}
	network, err := m.Build()
	if err != nil {
		return nil, fmt.Errorf("open the model in %s: %w", dir, err)
	}
	values, err := m.Values(network, tensors)
	if err != nil {
		return nil, fmt.Errorf("open the model in %s: %w", dir, err)
	}
	var in input
	if len(m.Input) > 0 {
		if err := json.Unmarshal(m.Input, &in); err != nil {
			return nil, fmt.Errorf("open the model in %s: its input: %w", dir, err)
		}
	}
	r := &Released{
		Network: m.Network, Shape: m.Shape, Outputs: m.Outputs, Options: m.Options(), Dataset: m.Dataset,
		Classes: m.Classes, Temperature: m.Temperature, Schema: in.Table,
	}
	for i, p := range network.Parameters {
		r.Parameters = append(r.Parameters, train.Parameter{Name: p.Name(), Shape: slices.Clone(p.Shape()), Values: values[i]})
	}
	return r, nil
}
