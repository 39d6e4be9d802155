package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"strconv"
	"text/template"

	"github.com/dptrain/dptrain/internal/safetensors"
)

// Release is everything that a run publishes. It must be made of public settings and of what the
// guarantee covers, and of nothing else.
type Release struct {
	Parameters      []safetensors.Tensor
	Dataset         string
	Model           string
	Activation      string  // what somebody who rebuilds the model has to know besides its name
	TestAccuracy    float64 // of the released parameters on the public test set
	Hyperparameters Hyperparameters
	Privacy         Privacy
}

// Hyperparameters are those of the run that made the released parameters.
type Hyperparameters struct {
	Optimizer         string   `json:"optimizer"`
	LearningRate      float64  `json:"learning_rate"`
	TunedLearningRate *float64 `json:"tuned_learning_rate,omitempty"` // as selected, before it was scaled to the final run's data
	SamplingRate      float64  `json:"sampling_rate"`
	ExpectedBatchSize float64  `json:"expected_batch_size"`
	Steps             int      `json:"steps"`
	ClippingNorm      float64  `json:"clipping_norm"`
	NoiseMultiplier   float64  `json:"noise_multiplier"`
}

// Privacy is the guarantee and what it rests on.
type Privacy struct {
	Epsilon  float64 `json:"epsilon"`
	Delta    float64 `json:"delta"`
	Insecure bool    `json:"insecure_seed"` // the random draws can be repeated by others: no guarantee holds

	Samples         int     `json:"training_samples"` // n, public
	SamplingRate    float64 `json:"sampling_rate"`
	NoiseMultiplier float64 `json:"noise_multiplier"`
	ClippingNorm    float64 `json:"clipping_norm"`
	Steps           int     `json:"steps"`
	Tuning          *Tuning `json:"tuning,omitempty"` // nil for a run without

	Accounting string `json:"accounting"`          // paper, tight or best
	Bound      string `json:"bound"`               // the theorems that gave epsilon
	Order      int    `json:"rdp_order,omitempty"` // the order that epsilon was smallest at
}

// Tuning describes a search whose cost is in the guarantee.
type Tuning struct {
	Method          string    `json:"method"` // variant 1, variant 2 or baseline
	SubsetRate      float64   `json:"subset_rate,omitempty"`
	Repetitions     string    `json:"repetitions"`                 // the distribution of the number of trials, as in settings
	Shape           *float64  `json:"repetitions_shape,omitempty"` // of negative-binomial alone
	MeanRepetitions float64   `json:"mean_repetitions"`
	LearningRates   []float64 `json:"learning_rates"`
	WarmStart       bool      `json:"warm_start"`
}

// Distribution says in words how the number of trials was drawn.
func (t Tuning) Distribution() string {
	switch t.Repetitions {
	case "poisson":
		return "Poisson"
	case "truncated-poisson":
		return "Poisson given at least one"
	case "negative-binomial":
		if t.Shape != nil {
			return fmt.Sprintf("truncated negative binomial of shape %v", *t.Shape)
		}
	}
	return t.Repetitions
}

// guarantee is the content of privacy.json: [Privacy] and the sentences of the statement that a program
// may want to check.
type guarantee struct {
	Holds          bool   `json:"guarantee_holds"`
	Neighbours     string `json:"neighbouring_relation"`
	Dataset        string `json:"dataset"`
	TestSetPublic  bool   `json:"test_set_is_assumed_public"`
	CoversTuning   bool   `json:"covers_tuning"`
	CoversFinalRun bool   `json:"covers_final_run"`
	Privacy
}

// WriteRelease stores everything that may be published.
func (d *Dir) WriteRelease(r Release) error {
	model, err := safetensors.Encode(r.Parameters, map[string]string{
		"activation":    r.Activation,
		"dataset":       r.Dataset,
		"model":         r.Model,
		"test_accuracy": strconv.FormatFloat(r.TestAccuracy, 'g', -1, 64),
	})
	if err != nil {
		return err
	}
	hyperparameters, err := indented(r.Hyperparameters)
	if err != nil {
		return fmt.Errorf("encode hyperparameters: %w", err)
	}
	privacy, err := indented(guarantee{
		Holds:          !r.Privacy.Insecure,
		Neighbours:     "add or remove one sample",
		Dataset:        r.Dataset,
		TestSetPublic:  true,
		CoversTuning:   r.Privacy.Tuning != nil,
		CoversFinalRun: true,
		Privacy:        r.Privacy,
	})
	if err != nil {
		return fmt.Errorf("encode privacy: %w", err)
	}
	statement, err := r.Statement()
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{
		"model.safetensors":    model,
		"hyperparameters.json": hyperparameters,
		"privacy.json":         privacy,
		"STATEMENT.md":         statement,
	} {
		if err := write(d.released(name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

//go:embed statement.md.tmpl
var statementText string

var statementTemplate = template.Must(template.New("statement").Funcs(template.FuncMap{
	"up":      Up,
	"percent": func(v float64) string { return fmt.Sprintf("%.2f", 100*v) },
	"n":       func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) },
	"about":   func(v float64) string { return fmt.Sprintf("%.4g", v) },
}).Parse(statementText))

// Statement says in words what the guarantee is, what it covers and what it rests on.
func (r Release) Statement() ([]byte, error) {
	var b bytes.Buffer
	if err := statementTemplate.Execute(&b, r); err != nil {
		return nil, fmt.Errorf("write statement: %w", err)
	}
	return b.Bytes(), nil
}
