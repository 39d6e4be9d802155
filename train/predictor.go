package train

import (
	"context"
	"errors"
	"fmt"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
)

// Predictor computes the outputs of a model with fixed parameters. Make one by [NewPredictor]. It trains nothing, so it
// holds no data and takes no privacy settings.
//
// An output is a function of its sample and of the parameters alone. So the output of a private sample is private. If
// the parameters are public, a model may be trained on outputs: its guarantee holds for the samples that they were
// computed from.
//
// Its methods are not safe for concurrent use. After Close the error of Predict wraps [ErrClosed].
type Predictor struct {
	loaded  engine.Loaded
	runs    engine.Runs
	program *compile.Program
	closed  bool
}

// NewPredictor compiles the model and loads it with the values of its parameters, in the order of [Model.Parameters].
// It copies them. It returns the errors of [Load], and a [*SettingError] for wrong parameters.
func NewPredictor(e Engine, model Model, parameters [][]float32) (*Predictor, error) {
	if e == nil {
		return nil, &SettingError{"engine", nil, "one, such as cpu.New makes"}
	}
	program, err := compile.Compile(model.source())
	if err != nil {
		return nil, fmt.Errorf("compile the model: %w", err)
	}
	if err := checkInitial(parameters, program); err != nil {
		return nil, err
	}
	if program.Output.Value == compile.None {
		return nil, fmt.Errorf("compile the model: %w: it names no output to compute", ErrGraph)
	}
	loaded, err := e.Load(program, nothing(program))
	if err != nil {
		return nil, fmt.Errorf("load the model: %w", err)
	}
	// A run that takes no step holds parameters on the device.
	runs, err := loaded.Start(engine.Job{
		Mechanism: engine.Mechanism{ClippingNorm: 1, ExpectedBatchSize: 1},
		Optimizer: engine.Optimizer{Method: engine.SGD},
		Initial:   engine.LayoutOf(program).Join(parameters),
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start on engine %s: %w", e.Name(), err), loaded.Close())
	}
	return &Predictor{loaded: loaded, runs: runs, program: program}, nil
}

// nothing returns a set of no samples.
func nothing(p *compile.Program) *engine.Data {
	d := &engine.Data{Columns: make([]engine.Column, len(p.Inputs))}
	for k, in := range p.Inputs {
		if in.Type == compile.Int32 {
			d.Columns[k].Ints = []int32{}
		} else {
			d.Columns[k].Floats = []float32{}
		}
	}
	return d
}

// Predict returns the model's outputs for all samples, sample after sample. It ignores columns that the output doesn't
// depend on, such as labels.
func (p *Predictor) Predict(ctx context.Context, data *Data) ([]float32, error) {
	if p.closed {
		return nil, fmt.Errorf("the predictor is %w; make another one", ErrClosed)
	}
	if err := data.checkInputs(p.program); err != nil {
		return nil, err
	}
	out, err := p.runs.Predict(ctx, &data.columns, 0)
	if err != nil {
		return nil, fmt.Errorf("predict: %w", err)
	}
	return out[0], nil
}

// Arithmetic returns the name of the arithmetic that outputs are computed in. Predictors of the same model, with the
// same parameters and arithmetic, compute the same bits.
func (p *Predictor) Arithmetic() string { return p.loaded.Arithmetic() }

// Close frees the memory of the model on the device. A second Close does nothing.
func (p *Predictor) Close() error {
	if p.closed {
		return nil
	}
	p.closed = true
	return errors.Join(p.runs.Close(), p.loaded.Close())
}
