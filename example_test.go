package dptrain_test

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/datasets"
	"github.com/dptrain/dptrain/models"
	"github.com/dptrain/dptrain/train"
	"github.com/dptrain/dptrain/tuner"
)

// The paper's network for MNIST, with a learning rate that is tuned privately: 40 epochs are 1,878 steps.
func Example() {
	result, err := tuneMNIST(context.Background(), 1878)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Released.TestScore, result.Released.Hyperparameters)
}

// tuneMNIST returns a network for MNIST, its learning rate tuned on the same private images: epsilon 4 covers both.
func tuneMNIST(ctx context.Context, steps int) (tuner.Result, error) {
	set, err := datasets.Open(ctx, "mnist", datasets.Options{})
	if err != nil {
		return tuner.Result{}, err
	}
	data, test, err := set.Classification()
	if err != nil {
		return tuner.Result{}, err
	}
	model, err := models.New("cnn", set.Train.SampleShape, set.Train.Classes, models.Options{})
	if err != nil {
		return tuner.Result{}, err
	}
	run := tuner.Candidate{SamplingRate: 0.0213, Steps: steps, ClippingNorm: 1}
	plan, _, err := tuner.PlanWithin(tuner.Settings{
		Method: tuner.Variant1, SubsetRate: 0.1, Repetitions: accountant.Poisson{Mean: 15}, // trials, each on a tenth
		Space: tuner.LearningRates(run, 0.01, 0.03, 0.1, 0.3, 1), Optimizer: train.SGD(0), Samples: data.Samples(),
	}, 4, 1e-5, train.NewKey())
	if err != nil {
		return tuner.Result{}, err
	}
	return tuner.Executor{Engine: cpu.New(cpu.Options{}), Model: model, Data: data.Data, Test: test}.Run(ctx, plan)
}

// The program in the README is the example's function, so that it compiles, and does what it says.
func TestREADMEHoldsTheExample(t *testing.T) {
	source, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	const marker = "<!-- example -->"
	parts := strings.Split(string(readme), marker)
	if len(parts) != 3 {
		t.Fatalf("README.md has %d markers %s, want 2", len(parts)-1, marker)
	}
	want, err := function(source, "tuneMNIST")
	if err != nil {
		t.Fatal(err)
	}
	if want = "```go\n" + want + "\n```"; strings.TrimSpace(parts[1]) != want {
		t.Errorf("between its markers README.md has\n%s\nwant the function in example_test.go:\n%s", parts[1], want)
	}
}

// function returns a function's source, its doc comment included.
func function(source []byte, name string) (string, error) {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, "", source, parser.ParseComments)
	if err != nil {
		return "", err
	}
	for _, d := range parsed.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == name {
			return string(source[files.Position(f.Doc.Pos()).Offset:files.Position(f.End()).Offset]), nil
		}
	}
	return "", fmt.Errorf("no function %s", name)
}

// The example runs on the real images, for a few steps.
func TestExample(t *testing.T) {
	if os.Getenv(datasets.DirVariable) == "" {
		t.Skipf("$%s is not set: the example needs MNIST", datasets.DirVariable)
	}
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	result, err := tuneMNIST(t.Context(), 10)
	if err != nil {
		t.Fatal(err)
	}
	rate := result.Released.Hyperparameters.Optimizer.LearningRate
	if near := func(want float64) bool { return math.Abs(rate/want-1) < 1e-6 }; !slices.ContainsFunc([]float64{0.09, 0.27, 0.9, 2.7, 9}, near) {
		t.Errorf("the final run's learning rate is %v, want one of the space, nine times as large", rate)
	}
	if score := result.Released.TestScore; score <= 0 || score >= 1 {
		t.Errorf("test accuracy %v", score)
	}
}
