package train

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/sirupsen/logrus"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/train/compile"
	"github.com/dptrain/dptrain/train/engine"
)

// Settings says how a run trains.
type Settings struct {
	Privacy   Privacy
	Optimizer Optimizer
	Key       Key

	// Trial is one more thing to tell runs apart. Runs with the same Key that differ in it, or in any other setting, the
	// data, the members or the model, draw different noise; runs that differ in nothing are the same run.
	Trial uint32
	// Members are the samples in play, ascending; nil means all. An empty, non-nil slice means none.
	Members []int32
	// Initial replaces the values bound in the model's graph, in the order of its parameters, unless
	// it is nil.
	Initial [][]float32
}

// Format leaves out, whatever the verb, what must not be printed: the key, and the members, who may be a
// private choice.
func (s Settings) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "%s at learning rate %v, %+v", s.Optimizer.Method, s.Optimizer.LearningRate, s.Privacy)
}

// Parameter is one trained parameter of a model.
type Parameter struct {
	Name   string
	Shape  []int
	Values []float32
}

// Result is what a finished run gives: all of it is covered by the guarantee of Event.
type Result struct {
	Parameters []Parameter
	Event      accountant.Event
}

// Diverged tells whether a parameter isn't finite.
func (r Result) Diverged() bool {
	for _, p := range r.Parameters {
		for _, v := range p.Values {
			if v-v != 0 { // NaN or infinite
				return true
			}
		}
	}
	return false
}

// Progress tells how far a run came.
type Progress struct {
	Step, Steps int
}

// Trainer is one training run. Its methods are not safe for concurrent use.
type Trainer struct {
	program   *compile.Program
	mechanism Mechanism
	run       engine.Run
	settings  Settings
	identity  identity
	data      *Data
	step      int
}

// New compiles the model, checks that settings, model and data fit together and makes the run ready on
// the engine. Wrong settings are a [*SettingError], wrong data a [*DataError].
func New(e engine.Engine, model compile.Source, data *Data, s Settings) (*Trainer, error) {
	if e == nil {
		return nil, &SettingError{"engine", nil, "one, such as cpu.New makes"}
	}
	if s.Key == (Key{}) {
		return nil, &SettingError{"key", s.Key, "one that NewKey drew: the zero key's noise is known to everybody"}
	}
	mechanism, err := NewMechanism(s.Privacy)
	if err != nil {
		return nil, err
	}
	if err := ValidateOptimizer(s.Optimizer); err != nil {
		return nil, err
	}
	program, err := compile.Compile(model)
	if err != nil {
		return nil, fmt.Errorf("compile the model: %w", err)
	}
	if err := data.checkInputs(program); err != nil {
		return nil, err
	}
	if err := checkMembers(s.Members, data.Samples()); err != nil {
		return nil, err
	}
	s.Members = slices.Clone(s.Members) // of nil it is nil
	if s.Initial == nil {
		s.Initial = program.Initial()
	}
	if err := checkInitial(s.Initial, program); err != nil {
		return nil, err
	}
	id := identityOf(program, data, s)
	run, err := e.Start(engine.Job{
		Program:   program,
		Data:      &data.columns,
		Members:   s.Members,
		Mechanism: mechanism.Engine(),
		Optimizer: s.Optimizer,
		Key:       id.derive(s.Key, "streams"),
		Trial:     s.Trial,
		Initial:   s.Initial,
	})
	if err != nil {
		return nil, fmt.Errorf("start the run on engine %s: %w", e.Name(), err)
	}
	t := &Trainer{program: program, mechanism: mechanism, run: run, settings: s, identity: id, data: data}
	t.warnOfFallback()
	return t, nil
}

func checkMembers(members []int32, samples int) error {
	for i, m := range members {
		switch {
		case m < 0 || int(m) >= samples:
			return &SettingError{"member", m, fmt.Sprintf("a sample's number, 0 to %d", samples-1)}
		case i > 0 && m <= members[i-1]:
			return &SettingError{"member", m, fmt.Sprintf("members in ascending order, once each; it follows %d", members[i-1])}
		}
	}
	return nil
}

func checkInitial(initial [][]float32, p *compile.Program) error {
	if len(initial) != len(p.Params) {
		return &SettingError{"number of initial parameters", len(initial), fmt.Sprintf("the model's %d", len(p.Params))}
	}
	for i, param := range p.Params {
		if len(initial[i]) != param.Size {
			return &SettingError{fmt.Sprintf("size of initial parameter %q", param.Name), len(initial[i]), fmt.Sprint(param.Size)}
		}
	}
	return nil
}

// reports is the number of times that a whole run calls back: often enough for a progress bar, too
// seldom to slow down a device.
const reports = 200

// Train takes the steps that are left. It calls progress, which may be nil, from time to time; within
// that call [Trainer.State] may be used. On a cancelled context it stops after a whole step and returns
// the context's error, and State tells how far it came.
func (t *Trainer) Train(ctx context.Context, progress func(Progress)) (Result, error) {
	if ctx == nil {
		return Result{}, &SettingError{"context", nil, "one; context.Background() is never cancelled"}
	}
	steps := t.settings.Privacy.Steps
	chunk := max(1, steps/reports)
	for t.step < steps {
		n := min(chunk, steps-t.step)
		if err := t.run.Steps(ctx, n); err != nil {
			t.step = t.run.State().Step
			return Result{}, fmt.Errorf("step %d of %d: %w", t.step+1, steps, err)
		}
		t.step += n
		if progress != nil {
			progress(Progress{Step: t.step, Steps: steps})
		}
	}
	return Result{Parameters: t.parameters(), Event: t.mechanism.Event()}, nil
}

func (t *Trainer) parameters() []Parameter {
	values := t.run.State().Params
	out := make([]Parameter, len(values))
	for i, p := range t.program.Params {
		out[i] = Parameter{Name: p.Name, Shape: slices.Clone(p.Shape), Values: values[i]}
	}
	return out
}

// Accuracy returns the share of public test samples whose class the model gets right at its current
// parameters; a sample with NaN among its logits counts as wrong. On the training samples it would be a
// private statistic.
func (t *Trainer) Accuracy(ctx context.Context, test *Classification) (float64, error) {
	if err := t.CheckTest(test); err != nil {
		return 0, err
	}
	logits, err := t.run.Predict(ctx, &test.columns)
	if err != nil {
		return 0, fmt.Errorf("predict the test set: %w", err)
	}
	return test.accuracy(logits), nil
}

// CheckTest returns an error, a [*DataError] inside it, if Accuracy can't take the test set.
func (t *Trainer) CheckTest(test *Classification) error {
	if test == nil {
		return fmt.Errorf("test set: %w", &DataError{"none; make one by NewClassification"})
	}
	if err := test.checkInputs(t.program); err != nil {
		return fmt.Errorf("test set: %w", err)
	}
	if t.program.Output.Size != test.classes {
		return fmt.Errorf("test set: %w", &DataError{fmt.Sprintf("%d classes, but the model's output has %d values a sample", test.classes, t.program.Output.Size)})
	}
	return nil
}

// Fallback returns nil for a model that was compiled, and otherwise why it has to be trained one sample
// at a time, which is right but slow. New logs it once.
func (t *Trainer) Fallback() error {
	if missing := t.program.Missing(); missing != nil {
		return missing
	}
	return nil
}

// warned holds the reasons that were logged already: a tuning run makes many trainers of one model.
var warned sync.Map

func (t *Trainer) warnOfFallback() {
	reason := t.Fallback()
	if reason == nil {
		return
	}
	if _, again := warned.LoadOrStore(reason.Error(), true); !again {
		logrus.Warnf("the model is trained one sample at a time, which is right but slow: %v", reason)
	}
}

// Close gives back what the run holds on the device.
func (t *Trainer) Close() error { return t.run.Close() }
