package onnxtest

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// Model is a file of ONNX.
type Model struct {
	Producer   string
	Properties map[string]string
	Inputs     []Value

	path string
}

// Value is a declared input. An axis of -1 has a name in place of a length.
type Value struct {
	Name, Doc, Type string
	Shape           []int
}

// Tensor holds numbers of one of the types.
type Tensor struct {
	Type   string
	Shape  []int
	Values Numbers
}

// The types.
const (
	Float  = "tensor(float)"
	Int64  = "tensor(int64)"
	Double = "tensor(double)"
)

// Numbers encodes NaN as null in JSON.
type Numbers []float64

// MarshalJSON writes an array of numbers and nulls.
func (n Numbers) MarshalJSON() ([]byte, error) {
	out := make([]*float64, len(n))
	for i := range n {
		if !math.IsNaN(n[i]) {
			out[i] = &n[i]
		}
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads an array of numbers and nulls.
func (n *Numbers) UnmarshalJSON(text []byte) error {
	var values []*float64
	if err := json.Unmarshal(text, &values); err != nil {
		return err
	}
	*n = make(Numbers, len(values))
	for i, v := range values {
		if (*n)[i] = math.NaN(); v != nil {
			(*n)[i] = *v
		}
	}
	return nil
}

//go:embed answer.py
var program string

// python is a process that answers requests until the tests end.
var python = sync.OnceValues(func() (ask func(request, answer any) error, err error) {
	command := exec.Command(filepath.Join(environment(), "bin", "python"), "-B", "-c", program)
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	requests, answers := json.NewEncoder(in), json.NewDecoder(bufio.NewReader(out))
	return func(request, answer any) error { return errors.Join(requests.Encode(request), answers.Decode(answer)) }, command.Start()
})

// answer is the answer of python: a model, outputs or an error.
type answer struct {
	Model   Model
	Outputs map[string]Tensor
	Error   string
}

func ask(path string, inputs map[string]Tensor) (a answer, err error) {
	ask, err := python()
	if err == nil {
		err = ask(map[string]any{"Path": path, "Inputs": inputs}, &a)
	}
	if err == nil && a.Error != "" {
		err = errors.New(a.Error)
	}
	return a, err
}

// environment returns the folder that python/environment makes, in the module's root.
func environment() string {
	root := "."
	for _, err := os.Stat("go.mod"); err != nil; _, err = os.Stat(filepath.Join(root, "go.mod")) {
		root = filepath.Join(root, "..")
	}
	return filepath.Join(root, "build", "python")
}

// Open opens a file. It skips the test without the environment.
func Open(t testing.TB, path string) *Model {
	t.Helper()
	if _, err := os.Stat(environment()); err != nil {
		t.Skip("no build/python, which python/environment makes: exported graphs aren't run")
	}
	a, err := ask(path, nil)
	if err != nil {
		t.Fatal(fmt.Errorf("open %s: %w", path, err))
	}
	a.Model.path = path
	return &a.Model
}

// Run computes the outputs, by their names.
func (m *Model) Run(inputs map[string]Tensor) (map[string]Tensor, error) {
	a, err := ask(m.path, inputs)
	return a.Outputs, err
}
