package train

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/random"
)

// Loaded is a compiled model with its training data on an engine, ready for any number of runs. Make one by [Load]. Its
// methods may be called concurrently.
type Loaded struct {
	engine  Engine
	loaded  engine.Loaded
	draw    func(seed rand.Source) [][]float32 // the model's Initial
	drawing sync.Mutex                         // held until the values that draw returned are copied
	program *compile.Program
	layout  engine.Layout
	data    *Data
	groups  users
}

// Load compiles the model and loads it with its data on the engine. An error about the graph wraps [ErrGraph]. An error
// about the data is a [*DataError]. If the engine doesn't support an operation, the error wraps an [*UnsupportedError].
func Load(e Engine, model Model, data *Data) (*Loaded, error) {
	if e == nil {
		return nil, &SettingError{"engine", nil, "one, such as cpu.New makes"}
	}
	program, err := compile.Compile(model.source())
	if err != nil {
		return nil, fmt.Errorf("compile the model: %w", err)
	}
	if err := data.checkInputs(program); err != nil {
		return nil, err
	}
	own := *data // so that an assignment to *data reaches neither the engine nor the hash
	loaded, err := e.Load(program, &own.columns)
	if err != nil {
		return nil, fmt.Errorf("load the model: %w", err)
	}
	return &Loaded{engine: e, loaded: loaded, draw: model.Initial, program: program, layout: engine.LayoutOf(program), data: &own}, nil
}

// Fallback returns, for an engine of [FirstOf], the reasons why the engines before the one that loaded the model don't
// support it, or nil if there are no earlier engines. The guarantee is the same on every engine, but training may be
// much slower, so show the user these reasons.
func (l *Loaded) Fallback() error {
	return engine.Passed(l.loaded)
}

// CheckTest returns an error that wraps a [*DataError] if the model can't be scored on the test set.
func (l *Loaded) CheckTest(test Labelled) error {
	if err := l.checkLabelled(test); err != nil {
		return fmt.Errorf("test set: %w", err)
	}
	return nil
}

func (l *Loaded) checkLabelled(test Labelled) error {
	switch test.(type) {
	case *Classification, *Regression, *Measured, *HeldOut:
	case nil:
		return errNoLabels
	default: // a type that embeds a set may hold nil, or inputs that the labels don't belong to
		return &DataError{fmt.Sprintf("a %T: want a *train.Classification or *train.Regression; train.ScoredBy scores one by a measure of your own, and train.NewScored any samples", test)}
	}
	if test.Inputs() == nil {
		return errNoLabels
	}
	if err := test.Inputs().checkInputs(l.program); err != nil {
		return err
	}
	switch want := test.outputs(); {
	case want == anyOutputs && l.program.Output.Size == 0:
		return &DataError{"the model has no output to score; name one in Model.Output"}
	case want != anyOutputs && l.program.Output.Size != want:
		labels := fmt.Sprintf("%d classes", want)
		if want == 1 {
			labels = "labels for one output"
		}
		return &DataError{fmt.Sprintf("%s, but the model's output has %d values a sample", labels, l.program.Output.Size)}
	}
	return test.scorable()
}

// Fingerprint returns, by name, all that decides the course of the model's runs and their scores on a test set, except
// the settings: "model", "training data" and "test data" as hashes, and the names of the "metric" and of the "engine"'s
// arithmetic. Without a test set, which is then nil, there is no metric. Runs that go on in another process must find
// all of it unchanged. The hash of training data is private.
func (l *Loaded) Fingerprint(test Labelled) (map[string]string, error) {
	model, data := l.program.Digest(), l.data.digest()
	fingerprint := map[string]string{
		"model":         hex.EncodeToString(model[:]),
		"training data": hex.EncodeToString(data[:]),
		"engine":        l.loaded.Arithmetic(),
	}
	if test == nil {
		return fingerprint, nil
	}
	if err := l.CheckTest(test); err != nil {
		return nil, err
	}
	public := test.Inputs().digest()
	fingerprint["test data"], fingerprint["metric"] = hex.EncodeToString(public[:]), string(test.Metric())
	return fingerprint, nil
}

// Start returns a group of one run for each of the settings. They advance side by side, each as if it were alone. If
// settings are wrong, the error wraps a [*SettingError]. Start copies the settings. Close the group before the Loaded.
func (l *Loaded) Start(settings ...Settings) (g *Group, err error) {
	if err := l.groups.enter(); err != nil {
		return nil, fmt.Errorf("start: the loaded model is %w; load it again", err)
	}
	defer func() {
		if g == nil { // an error, or a panic of the model's Initial
			l.groups.leave()
		}
	}()
	all := make([]prepared, len(settings))
	for i, s := range settings {
		if all[i], err = l.prepare(s); err != nil {
			return nil, err
		}
	}
	return l.start(all)
}

func (l *Loaded) start(all []prepared) (*Group, error) {
	g := &Group{model: l}
	jobs := make([]engine.Job, len(all))
	for i, r := range all {
		jobs[i] = engine.Job{
			Members:   r.Members,
			Mechanism: r.Privacy.engine(),
			Key:       r.identity.derive(r.Key, "streams"),
			Trial:     r.Trial,
			Initial:   l.layout.Join(r.Initial),
		}
		if r.mover != nil {
			jobs[i].Move = r.mover.move
		} else {
			jobs[i].Optimizer = r.Optimizer.engine()
			if r.factors != nil {
				jobs[i].Rate = func(step int) float64 { return r.Optimizer.LearningRate * r.factors[step-1] }
			}
		}
		r.Initial = nil // the engine holds them
		g.settings = append(g.settings, r)
	}
	runs, err := l.loaded.Start(jobs...)
	if err != nil {
		return nil, fmt.Errorf("start on engine %s: %w", l.engine.Name(), err)
	}
	g.runs = runs
	for i, s := range g.settings {
		if s.From == nil {
			continue
		}
		from, err := s.From.inner.laidOut(l.layout)
		if err == nil {
			err = s.mover.fits(s.From.inner)
		}
		if err == nil {
			err = runs.Restore(i, from)
		}
		if err == nil {
			s.mover.restore(s.From.inner)
		}
		if field := (*engine.FieldError)(nil); errors.As(err, &field) || errors.Is(err, ErrState) {
			err = &SettingError{"optimizer", s.Optimizer, "that of the run which the state to go on from is of, with what it accumulates and averages"}
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("go on from step %d: %w", s.first(), err), runs.Close())
		}
	}
	return g, nil
}

// prepared is checked settings, with the identity and the mover that follow from them.
type prepared struct {
	Settings
	identity identity
	mover    *mover    // nil if the engine has the optimizer built in
	factors  []float64 // of the learning rate at each step; nil without a schedule
}

func (l *Loaded) prepare(s Settings) (prepared, error) {
	if s.Key == (Key{}) {
		return prepared{}, &SettingError{"key", s.Key, "one that NewKey drew: the zero key's noise is known to everybody"}
	}
	if err := s.Privacy.Validate(); err != nil {
		return prepared{}, err
	}
	if err := errors.Join(s.Optimizer.Validate(), checkMembers(s.Members, l.data.Samples())); err != nil {
		return prepared{}, err
	}
	s.Members = slices.Clone(s.Members) // nil stays nil
	s.Optimizer = s.Optimizer.Clone()
	if s.From != nil {
		var err error
		if s, err = s.goingOn(l.layout); err != nil {
			return prepared{}, err
		}
	}
	if s.Initial == nil {
		s.Initial = l.initial(s)
	}
	if err := checkInitial(s.Initial, l.program); err != nil {
		return prepared{}, err
	}
	// A copy: the engine gets the values that are hashed.
	s.Initial = l.layout.Split(l.layout.Join(s.Initial))
	rates, err := factors(s.Optimizer.Schedule, s.Privacy.Steps)
	if err != nil {
		return prepared{}, err
	}
	decay := decayOf(l.program, s.Privacy.ExpectedBatchSize())
	names := make([]string, len(l.program.Params))
	for i, p := range l.program.Params {
		names[i] = p.Name
	}
	move, err := newMover(s.Optimizer, rates, decay, names, l.layout, s.Privacy.Steps, engine.Schedules(l.loaded))
	if err != nil {
		return prepared{}, err
	}
	return prepared{s, identityOf(l.program, l.loaded.Arithmetic(), l.data, s, rates), move, rates}, nil
}

// initial returns initial values for settings without any: the values that the model draws, or the values bound in its
// graph, or nil if there are none. They share no memory with the model.
func (l *Loaded) initial(s Settings) [][]float32 {
	if l.draw == nil {
		return l.program.Initial()
	}
	l.drawing.Lock()
	defer l.drawing.Unlock()
	drawn := slices.Clone(l.draw(s.Key.Stream(random.ID{Purpose: random.Initialisation, Trial: s.Trial})))
	for i, values := range drawn {
		drawn[i] = slices.Clone(values)
	}
	return drawn
}

// Close frees the memory of model and data on the engine. While a group is open it closes nothing, and the error wraps
// [ErrInUse]. A second Close does nothing.
func (l *Loaded) Close() error {
	first, err := l.groups.close()
	if err != nil {
		return fmt.Errorf("close: the loaded model is %w", err)
	}
	if !first {
		return nil
	}
	return l.loaded.Close()
}
