package train_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/models"
	"github.com/dptrain/dptrain/train"
)

// The rule of docs/library.md.

// Lion moves by the sign of an average gradient (Chen et al., "Symbolic Discovery of Optimization Algorithms", 2023).
type Lion struct{ Beta1, Beta2 float32 }

func (l Lion) Name() string              { return fmt.Sprintf("lion %v %v", l.Beta1, l.Beta2) }
func (l Lion) State(lengths []int) []int { return lengths } // one number for each parameter

func (l Lion) Move(u *train.Update) error {
	for i, parameters := range u.Parameters {
		average := u.State[i]
		for j, g := range u.Gradient[i] {
			direction := l.Beta1*average[j] + (1-l.Beta1)*g
			parameters[j] -= float32(math.Copysign(u.LearningRate, float64(direction)))
			average[j] = l.Beta2*average[j] + (1-l.Beta2)*g
		}
	}
	return nil
}

// The rule of docs/library.md is this file's, and learns. Its programs are the examples', which TestExamples runs.
func TestDocumentedRule(t *testing.T) {
	text, err := os.ReadFile("../docs/library.md")
	if err != nil {
		t.Fatal(err)
	}
	for marker, file := range map[string]string{
		"rule": "documented_test.go", "program": "../examples/regression/main.go", "layers": "../examples/language/main.go",
	} {
		source, _ := os.ReadFile(file) // none shows nothing
		_, shown, _ := strings.Cut(string(text), "<!-- "+marker+" -->\n```go\n")
		shown, _, found := strings.Cut(shown, "```\n<!-- "+marker+" -->")
		if !found || !strings.Contains(string(source), shown) {
			t.Errorf("docs/library.md shows another %s than %s has", marker, file)
		}
	}
	model, err := models.New("linear", []int{2}, 2, models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	data, test := points(2000), points(500)
	trainer, err := train.New(cpu.New(cpu.Options{}), model, data.Data, train.Settings{
		Privacy:   train.Privacy{SamplingRate: 0.05, NoiseMultiplier: 2, ClippingNorm: 1, Steps: 200, NominalSize: 2000},
		Optimizer: train.OptimizerOf(Lion{0.9, 0.99}, 0.02),
		Key:       train.InsecureKey(1),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer trainer.Close()
	if _, err := trainer.Train(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	if accuracy, err := trainer.Score(context.Background(), test); err != nil || accuracy < 0.9 {
		t.Errorf("accuracy %v, %v", accuracy, err)
	}
}
