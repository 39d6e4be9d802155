package main

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/cmd/internal/engines"
	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/datasets/table"
	"github.com/dptrain/dptrain/internal/float"
	"github.com/dptrain/dptrain/internal/networks"
	"github.com/dptrain/dptrain/train"
)

// fixture is a released model with random parameters, whose outputs other programs have to reproduce.
type fixture struct {
	name  string
	model release.Model
	table *table.Schema
	rows  string // CSV, for the models of tables
}

// fixtures has models of each kind of network and of samples.
func fixtures() []fixture {
	grey := func(rows, columns int) *release.Image {
		return &release.Image{Shape: []int{1, rows, columns}, Channels: []string{"grey"}, Mean: []float64{0.1307}, Std: []float64{0.3081}}
	}
	colour := &release.Image{
		Shape: []int{3, 17, 20}, Channels: []string{"red", "green", "blue"}, Mean: []float64{0.5, 0.25, 0.125}, Std: []float64{0.25, 0.5, 2},
	}
	tempered := release.Activation{Scale: 1.5, Temperature: 2.5, Offset: 0.75}
	people := &table.Schema{
		Label: table.Label{Name: "answer", Task: table.Classification, Classes: []string{"no", "maybe", "<=50K & é"}},
		Columns: []table.Column{
			{Name: "age", Clip: &table.Range{Low: 18, High: 90}, Scale: &table.Scale{Shift: 40, Divisor: 12}},
			{Name: "colour", Categories: []string{"green", "", "red", "*"}},
			{Name: "since", Scale: &table.Scale{Shift: 1.7e9, Divisor: 1000}}, // more digits than single precision has
			{Name: "code", Categories: []string{"1", "2"}},
			{Name: "plain"},
		},
		Shape: []int{9},
	}
	numbers := &table.Schema{
		Label:   table.Label{Name: "y", Task: table.Regression, Clip: &table.Range{Low: 95, High: 105}, Scale: &table.Scale{Shift: 100, Divisor: 10}},
		Columns: []table.Column{{Name: "a"}, {Name: "b", Clip: &table.Range{Low: -1, High: 1}}},
		Shape:   []int{2},
	}
	return []fixture{
		{"people", release.Model{Network: "mlp:5", Activation: tempered, Temperature: 2.5}, people,
			"since,plain,code,colour,age,other\n1700000001.25,0.5,1,green,200,x\n1700000500,-1,2, ,30.5,y\n1699999000,1e-3,2,blue,40,z\n1700000000, 7 ,1,red,17,\n"},
		{"numbers", release.Model{Network: "linear"}, numbers, "a,b\n0.1,0.2\n-0.3,5\n0,-7\n"},
		{"features", release.Model{Dataset: "cifar-10", Network: "linear", Features: "resnet20", Image: colour, Shape: []int{64}, Outputs: 10}, nil, ""},
		{"grey", release.Model{Dataset: "mnist", Network: "cnn", Image: grey(14, 15), Shape: []int{1, 14, 15}, Outputs: 4, Temperature: 0.5}, nil, ""},
		{"colour", release.Model{Dataset: "photos", Network: "cnn", Activation: tempered, Image: colour, Shape: []int{3, 17, 20}, Outputs: 3, Classes: []string{"a", "b", "c"}}, nil, ""},
		{"flat", release.Model{Dataset: "glyphs", Network: "linear", Image: grey(4, 3), Shape: []int{1, 4, 3}, Outputs: 2}, nil, ""},
		{"texts", release.Model{Dataset: "imdb", Network: "embedding", Shape: []int{7}, Vocabulary: 40, Tokens: "bert-base-cased", Outputs: 2, Classes: []string{"negative", "positive"}}, nil, ""},
	}
}

// write releases the fixture's model into a new folder.
func (f fixture) write(t *testing.T) (dir string) {
	t.Helper()
	m := f.model
	if m.Activation == (release.Activation{}) {
		m.Activation = release.Activation{Scale: 2, Temperature: 2, Offset: 1}
	}
	m.Task = release.Classification
	if f.table != nil {
		input, err := json.Marshal(map[string]*table.Schema{"table": f.table})
		if err != nil {
			t.Fatal(err)
		}
		m.Dataset, m.Input, m.Shape, m.Outputs, m.Task, m.Classes = "files", input, f.table.Shape, f.table.Outputs(), string(f.table.Label.Task), f.table.Label.Classes
	}
	options := networks.Options{Activation: networks.TemperedSigmoid(m.Activation), Vocabulary: m.Vocabulary}
	network, err := networks.New(m.Network, m.Shape, m.Outputs, options)
	if err != nil {
		t.Fatal(err)
	}
	if m.Layers, err = networks.Layers(m.Network, m.Shape, m.Outputs, options); err != nil {
		t.Fatal(err)
	}
	var parameters []train.Parameter
	for i, values := range network.Initial(rand.NewPCG(1, 2)) {
		parameters = append(parameters, train.Parameter{Name: network.Parameters[i].Name(), Shape: network.Parameters[i].Shape(), Values: values})
	}
	if parameters, err = networks.ToPyTorch(m.Layers, parameters); err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(t.TempDir(), "released")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r := release.Release{Parameters: parameters, Model: m, Score: release.Score{Metric: train.Accuracy}, Privacy: release.Privacy{Epsilon: 1, Delta: 1e-5, Samples: 10}}
	if err := r.Write(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// computed are raw inputs of a model, of images bytes, of texts tokens, and what this program computes from them.
type computed struct {
	Inputs        []float64   `json:"inputs"`
	Outputs       []float64   `json:"outputs"`
	Probabilities [][]float64 `json:"probabilities"`
}

// compute draws n samples and predicts them. Texts are of several lengths, and have zeros after their tokens.
func (f fixture) compute(t *testing.T, dir string, n int) (c computed) {
	t.Helper()
	r, err := experiment.Open(dir, engines.CPU())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	draw := rand.New(rand.NewPCG(3, 4))
	size := 1
	for _, d := range r.Shape {
		size *= d
	}
	samples, tokens, weights := make([]float32, n*size), make([]int32, n*size), make([]float32, n*size)
	for i := range samples {
		switch {
		case r.Vocabulary > 0:
			if length := 2 + (i/size)%(size-1); i%size < length {
				tokens[i], weights[i] = int32(1+draw.IntN(r.Vocabulary-1)), 1/float32(length)
			}
			c.Inputs = append(c.Inputs, float64(tokens[i]))
		case r.Image != nil && r.Features == "":
			raw, channel := float64(draw.IntN(256)), i%size/(r.Image.Shape[1]*r.Image.Shape[2])
			samples[i] = float32((raw/255 - r.Image.Mean[channel]) / r.Image.Std[channel])
			c.Inputs = append(c.Inputs, raw)
		default:
			samples[i] = float32(draw.NormFloat64())
			c.Inputs = append(c.Inputs, float64(samples[i]))
		}
	}
	data, err := train.NewData(n, samples, make([]float32, n*r.Outputs))
	if r.Vocabulary > 0 {
		var texts *train.Classification
		if texts, err = train.NewTokenClassification(tokens, make([]int32, n), r.Outputs, weights); err == nil {
			data = texts.Data
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	outputs, err := r.Predict(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	for part := range slices.Chunk(outputs, r.Outputs) {
		c.Probabilities = append(c.Probabilities, float.Softmax(part, r.Temperature))
		for _, v := range part {
			c.Outputs = append(c.Outputs, float64(v))
		}
	}
	return c
}
