package dptrain_test

import (
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"log"
	"os"
	"regexp"
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
	if err := tuneMNIST(context.Background(), 1878); err != nil {
		log.Fatal(err)
	}
}

// tuneMNIST releases a network for MNIST, its learning rate tuned on the same private images: epsilon 4 covers both.
func tuneMNIST(ctx context.Context, steps int) error {
	set, err := datasets.Open(ctx, "mnist", datasets.Options{})
	if err != nil {
		return err
	}
	data, err := train.NewClassification(set.Train.Samples, set.Train.Labels, set.Train.Classes)
	if err != nil {
		return err
	}
	test, err := train.NewClassification(set.Test.Samples, set.Test.Labels, set.Test.Classes)
	if err != nil {
		return err
	}
	model, err := models.New("cnn", set.Train.SampleShape, set.Train.Classes, models.Options{})
	if err != nil {
		return err
	}
	run := tuner.Candidate{SamplingRate: 0.0213, Steps: steps, ClippingNorm: 1}
	settings, guarantee, err := tuner.Calibrate(tuner.Settings{
		Method: tuner.Variant1, SubsetRate: 0.1, Repetitions: accountant.Poisson{Mean: 15}, // trials, each on a tenth
		Space: tuner.LearningRates(run, 0.01, 0.03, 0.1, 0.3, 1), Optimizer: train.SGD(0), Samples: data.Samples(),
	}, 4, 1e-5, accountant.Options{})
	if err != nil {
		return err
	}
	plan, err := tuner.NewPlan(settings, train.NewKey())
	if err != nil {
		return err
	}
	executor := tuner.Executor{Engine: cpu.New(cpu.Options{}), Model: model, Data: data.Data, Test: test}
	result, err := executor.Run(ctx, plan)
	if err != nil {
		return err
	}
	fmt.Printf("test accuracy %.3f with learning rate %.3g, epsilon %.2f at delta %g\n", result.Released.TestScore,
		result.Released.Hyperparameters.Optimizer.LearningRate, guarantee.Epsilon, guarantee.Delta)
	return nil
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
	printed, err := printedBy(func() error { return tuneMNIST(t.Context(), 10) })
	if err != nil {
		t.Fatal(err)
	}
	if want := `^test accuracy (0\.\d{3}) with learning rate (0\.09|0\.27|0\.9|2\.7|9), epsilon (4\.00|3\.9\d) at delta 1e-05\n$`; !regexp.MustCompile(want).MatchString(printed) {
		t.Errorf("the example prints %q, want %s", printed, want)
	}
}

// printedBy returns the standard output of f, and its error.
func printedBy(f func() error) (string, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer r.Close()
	stdout := os.Stdout
	os.Stdout = w
	failed := f()
	os.Stdout = stdout
	if err := w.Close(); err != nil {
		return "", err
	}
	var out bytes.Buffer
	if _, err := io.Copy(&out, r); err != nil {
		return "", err
	}
	return out.String(), failed
}
