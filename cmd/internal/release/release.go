package release

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"text/template"

	"github.com/dptrain/dptrain/cmd/internal/build"
	"github.com/dptrain/dptrain/internal/released"
	"github.com/dptrain/dptrain/train"
)

// Release is everything that a run publishes. It must hold only public settings and values that the guarantee covers.
type Release struct {
	Parameters      []train.Parameter // in the layouts of [networks.ToPyTorch]
	Model           Model
	Score           Score
	Hyperparameters Hyperparameters
	Privacy         Privacy
	NoPublicRows    bool       // no public samples were used
	Curve           *Curve     // nil for none
	MadeBy          build.Info // [Release.Files] sets it to the running program
}

// Hyperparameters are the hyperparameters of the run that made the released parameters.
type Hyperparameters struct {
	Optimizer         string         `json:"optimizer"` // with its settings: see [train.Optimizer.String]
	LearningRate      float64        `json:"learning_rate"`
	TunedLearningRate *float64       `json:"tuned_learning_rate,omitempty"` // the selected rate, before it was scaled
	SamplingRate      float64        `json:"sampling_rate"`
	ExpectedBatchSize float64        `json:"expected_batch_size"`
	Steps             int            `json:"steps"`
	Epochs            float64        `json:"epochs"` // expected passes over the run's data: Steps times SamplingRate
	ClippingNorm      float64        `json:"clipping_norm"`
	Clipping          train.Clipping `json:"clipping,omitempty"`
	NoiseMultiplier   float64        `json:"noise_multiplier"`
}

// HyperparametersOf returns the hyperparameters of a run with the given settings.
func HyperparametersOf(p train.Privacy, o train.Optimizer) Hyperparameters {
	return Hyperparameters{
		Optimizer:         o.String(),
		LearningRate:      o.LearningRate,
		SamplingRate:      p.SamplingRate,
		ExpectedBatchSize: p.ExpectedBatchSize(),
		Steps:             p.Steps,
		Epochs:            float64(p.Steps) * p.SamplingRate,
		ClippingNorm:      p.ClippingNorm,
		Clipping:          p.Clipping,
		NoiseMultiplier:   p.NoiseMultiplier,
	}
}

// Scaled reports whether the tuned learning rate was scaled to the final run's data.
func (h Hyperparameters) Scaled() bool {
	return h.TunedLearningRate != nil && *h.TunedLearningRate != h.LearningRate
}

// Privacy is the guarantee and the settings that determine it.
type Privacy struct {
	Epsilon  float64 `json:"epsilon"`
	Delta    float64 `json:"delta"`
	Insecure bool    `json:"insecure_seed"` // others can repeat the random draws, so no guarantee holds

	// Warnings give the reasons why the guarantee is void or protects little: see [Privacy.Warned].
	Warnings []string `json:"warnings,omitempty"`

	Samples int `json:"training_samples"` // n, public; for a file with units, the rows kept

	// For a file whose unit of privacy isn't a row: the column that names each row's unit, and the maximum number of
	// rows kept of each unit.
	Unit        string `json:"unit,omitempty"`
	RowsPerUnit int    `json:"rows_per_unit,omitempty"`

	// Before tuning: the settings that all runs share, and 0 for the others. After tuning: the final run's settings.
	SamplingRate    float64        `json:"sampling_rate,omitempty"`
	NoiseMultiplier float64        `json:"noise_multiplier,omitempty"`
	ClippingNorm    float64        `json:"clipping_norm,omitempty"`
	Clipping        train.Clipping `json:"clipping,omitempty"` // of all runs
	Steps           int            `json:"steps,omitempty"`

	Tuning *Tuning `json:"tuning,omitempty"`                  // nil without tuning
	ByRule bool    `json:"hyperparameters_by_rule,omitempty"` // from public numbers, by the command

	Accounting string `json:"accounting"`          // paper, tight or best
	Bound      string `json:"bound"`               // the theorems that gave epsilon
	Order      int    `json:"rdp_order,omitempty"` // the Rényi order that gave the smallest epsilon
}

// guarantee is the content of privacy.json: [Privacy], and sentences of the statement as values for programs to check.
type guarantee struct {
	Holds          bool   `json:"guarantee_holds"`         // it is proved, and not void
	Meaningful     bool   `json:"guarantee_is_meaningful"` // it holds without a warning
	Neighbours     string `json:"neighbouring_relation"`
	Dataset        string `json:"dataset"`
	TestSetPublic  bool   `json:"test_set_is_assumed_public"`
	CoversTuning   bool   `json:"covers_tuning"`
	CoversFinalRun bool   `json:"covers_final_run"`
	Privacy
	MadeBy build.Info `json:"made_by"`
}

// Alike reports whether all runs had the same sampling rate, steps, noise and clipping norm.
func (p Privacy) Alike() bool {
	return p.Tuning == nil || len(p.Tuning.Space.Runs) == 1 && !p.Tuning.Space.Tunes("clipping norm")
}

// Of returns p with the hyperparameters of the final run.
func (p Privacy) Of(h Hyperparameters) Privacy {
	p.SamplingRate, p.NoiseMultiplier, p.ClippingNorm, p.Clipping, p.Steps = h.SamplingRate, h.NoiseMultiplier, h.ClippingNorm, h.Clipping, h.Steps
	return p
}

// Write writes the files of released/ into a folder.
func (r Release) Write(dir string) error {
	files, err := r.Files()
	if err != nil {
		return err
	}
	return WriteFiles(dir, files)
}

// WriteFiles writes files of released/, by their slash-separated names, into a folder and nowhere else.
func WriteFiles(dir string, files map[string][]byte) (err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	for name, content := range files {
		if err := root.WriteFile(filepath.FromSlash(name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Files returns the files of released/, by their names.
func (r Release) Files() (map[string][]byte, error) {
	r.Privacy = r.Privacy.Warned()
	r.MadeBy = build.Current()
	metadata := map[string]string{"activation": r.Model.Activation.String(), "dataset": r.Model.Dataset, "model": r.Model.Network}
	if r.Score.Metric != "" {
		metadata[r.Score.Key()] = strconv.FormatFloat(r.Score.Value, 'g', -1, 64)
	}
	files, err := r.Model.Files(released.Tensors(r.Parameters), metadata)
	if err != nil {
		return nil, err
	}
	if files["hyperparameters.json"], err = released.Indented(r.Hyperparameters); err != nil {
		return nil, fmt.Errorf("encode hyperparameters: %w", err)
	}
	files["privacy.json"], err = released.Indented(guarantee{
		Holds:          !r.Privacy.Insecure,
		Meaningful:     len(r.Privacy.Warnings) == 0,
		Neighbours:     r.Privacy.neighbours(),
		Dataset:        r.Model.Dataset,
		TestSetPublic:  !r.NoPublicRows,
		CoversTuning:   r.Privacy.Tuning != nil,
		CoversFinalRun: true,
		Privacy:        r.Privacy,
		MadeBy:         r.MadeBy,
	})
	if err != nil {
		return nil, fmt.Errorf("encode privacy: %w", err)
	}
	if files["STATEMENT.md"], err = r.Statement(); err != nil || r.Curve == nil {
		return files, err
	}
	curve, err := r.Curve.files(r.Score.Metric)
	maps.Copy(files, curve)
	return files, err
}

//go:embed statement.md.tmpl
var statementText string

var statementTemplate = template.Must(template.New("statement").Funcs(template.FuncMap{
	"up":    Up,
	"n":     func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) },
	"about": about,
	"noise": func(v float64) string { return RoundUp(v, 8) },
}).Parse(statementText))

// about prints a float64 or a *float64 with four digits.
func about(v any) string {
	if p, ok := v.(*float64); ok {
		v = *p
	}
	return fmt.Sprintf("%.4g", v)
}

// Statement returns the content of STATEMENT.md: the guarantee, its coverage and its assumptions, in words.
func (r Release) Statement() ([]byte, error) {
	var b bytes.Buffer
	if err := statementTemplate.Execute(&b, r); err != nil {
		return nil, fmt.Errorf("write statement: %w", err)
	}
	fmt.Fprintf(&b, "\nMade by %s.\n", r.MadeBy)
	return b.Bytes(), nil
}

// neighbours describes the difference of neighbouring data sets.
func (p Privacy) neighbours() string {
	if p.Unit == "" {
		return "add or remove one sample"
	}
	return "add or remove one unit, with all of its rows"
}

// Protects returns the unit that the guarantee protects, as part of a sentence: "" for a sample.
func (p Privacy) Protects() string {
	if p.Unit == "" {
		return ""
	}
	if p.RowsPerUnit == 1 {
		return fmt.Sprintf("for each unit (column %s), of which one row is kept", p.Unit)
	}
	return fmt.Sprintf("for each unit (column %s): all of its at most %d rows together", p.Unit, p.RowsPerUnit)
}

// Neighbour returns the excess of one of two neighbouring data sets, as part of a sentence.
func (p Privacy) Neighbour() string {
	switch {
	case p.Unit == "":
		return "training sample"
	case p.RowsPerUnit == 1:
		return fmt.Sprintf("unit (value of column %s) with its row", p.Unit)
	}
	return fmt.Sprintf("unit (value of column %s) with its at most %d rows", p.Unit, p.RowsPerUnit)
}

// protected names the unit that the guarantee protects.
func (p Privacy) protected() string {
	if p.Unit == "" {
		return "sample"
	}
	return "unit"
}

// largestEpsilon is the largest epsilon that is called reasonable (Ponomareva et al., "How to DP-fy ML", 2023, section
// 5.2: tier 2 is epsilon up to 10).
const largestEpsilon = 10

// Warned returns p with Warnings set: a warning if the guarantee is void, and its weaknesses. Show them wherever the
// guarantee is shown.
func (p Privacy) Warned() Privacy {
	p.Warnings = nil
	if p.Insecure {
		p.Warnings = append(p.Warnings, "all random draws come from an insecure seed: the privacy guarantee is void")
	}
	p.Warnings = append(p.Warnings, p.Weaknesses()...)
	return p
}

// Weaknesses returns the reasons why the guarantee, although it holds, protects little.
func (p Privacy) Weaknesses() []string {
	var out []string
	if p.Epsilon > largestEpsilon {
		out = append(out, fmt.Sprintf("epsilon %s is above %d and protects little: one %s may make a conclusion up to %s times as likely",
			Up(p.Epsilon), largestEpsilon, p.protected(), factor(p.Epsilon)))
	}
	if p.Delta*float64(p.Samples) >= 1 {
		out = append(out, fmt.Sprintf("delta %v is not below 1/%d, one over the number of samples: publishing a random sample as it is would meet it",
			p.Delta, p.Samples))
	}
	return out
}

// factor prints e^epsilon, rounded up, and as a power of ten from a million on.
func factor(epsilon float64) string {
	if exponent := epsilon / math.Ln10; exponent >= 6 {
		return fmt.Sprintf("10^%.0f", math.Ceil(exponent))
	}
	return fmt.Sprintf("%.0f", math.Ceil(math.Exp(epsilon)))
}

// The description of a released model: see package released, which reads it back.
type (
	Model      = released.Model
	Image      = released.Image
	Activation = released.Activation
)

// ErrNoModel reports that there is no released model to read.
var ErrNoModel = released.ErrNoModel

// Notated is the version of a [Model] whose files may write numbers otherwise than plainly.
const Notated = released.Notated

// The tasks of a [Model].
const (
	Classification = released.Classification
	Regression     = released.Regression
)
