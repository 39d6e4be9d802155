package train

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dptrain/dptrain/internal/engine"
)

// Rule is an algorithm of an [Optimizer]. It sees released values alone: parameters, noisy mean gradients and its own
// state, never a sample, a drawn batch size or a norm. So it costs no privacy, whatever it does with them. A rule that
// gets private data in another way does cost privacy, and no accounting covers that.
//
// A rule must depend on its arguments alone, keep nothing but its state from step to step, and be safe for concurrent
// use, because runs side by side share it. Then a run that is stopped and resumed ends in the same bytes. It must not
// change while it is used.
type Rule interface {
	// Name names the rule with all of its settings, in one line, such as "lion 0.9 0.99". It is released with the
	// model. Runs draw the same noise only if their rules have equal names, types and exported fields, including the
	// types of values in interfaces. So rules that differ in anything else need different names.
	Name() string
	// State returns the lengths of the slices that the rule keeps from step to step, for parameters of the given
	// lengths, which are in the order of [Model.Parameters]. Nil means that it keeps none.
	State(lengths []int) []int
	// Move takes one step: it changes the parameters in place, and its state with them. An error ends the run.
	Move(u *Update) error
}

// Update is one step of a [Rule].
type Update struct {
	Step         int         // counted from 1
	Steps        int         // of the whole run
	LearningRate float64     // at this step, with the schedule's factor
	Names        []string    // of the parameters, in the order of [Model.Parameters]; the rule's own copy
	Parameters   [][]float32 // to change in place, in the same order
	Gradient     [][]float32 // the noisy mean gradient, by parameter, which the rule may overwrite
	State        [][]float32 // to change in place, of the lengths that the rule's State returned; 0 at first

	groups []ParameterGroup // of each parameter, for built-in methods
}

// rate returns the learning rate of parameter i.
func (u *Update) rate(i int) float64 { return u.LearningRate * u.groups[i].LearningRate }

// DataScaler is a [Rule] that reports whether its best learning rate grows with the size of the data: see
// [Optimizer.ScalesWithData]. The learning rates of other rules stay as they are.
type DataScaler interface {
	Rule
	ScalesWithData() bool
}

// rule returns an optimizer's rule: its own, or its method's.
func (o Optimizer) rule() Rule {
	switch {
	case o.Rule != nil:
		return o.Rule
	case o.Method == DPMomentum || o.Method == DPNesterov:
		return momentum{o.Momentum, o.Method == DPNesterov}
	case o.Method == DPSGD:
		return builtIn{engine.Optimizer{Method: engine.SGD}}
	default:
		return builtIn{engine.Optimizer{Method: engine.Adam, Beta1: o.Beta1, Beta2: o.Beta2, Epsilon: o.Epsilon}}
	}
}

// builtIn is the SGD or Adam of engines as a rule. It takes the same step from the same gradient, to the last bit; but
// a rule's gradient has been rounded to single precision.
type builtIn struct{ engine.Optimizer }

func (b builtIn) Name() string { return string(b.Method) }

func (b builtIn) State(lengths []int) []int {
	if b.Method == engine.SGD {
		return nil
	}
	return slices.Concat(lengths, lengths) // first and second moments
}

func (b builtIn) Move(u *Update) error {
	n := len(u.Parameters)
	for i, params := range u.Parameters {
		b.LearningRate = u.rate(i)
		var first, second []float32
		if b.Method == engine.Adam {
			first, second = u.State[i], u.State[n+i]
		}
		gradient := make([]float64, len(params))
		for j, g := range u.Gradient[i] {
			gradient[j] = float64(g)
		}
		b.Update(u.Step, params, first, second, gradient)
	}
	return nil
}

// momentum is SGD with momentum, computed in doubles, each operation rounded by itself, and stored as floats.
type momentum struct {
	keep     float64
	nesterov bool
}

func (m momentum) Name() string { return "momentum" }

func (m momentum) State(lengths []int) []int { return lengths }

func (m momentum) Move(u *Update) error {
	for i, params := range u.Parameters {
		velocity, rate := u.State[i], u.rate(i)
		for j, g := range u.Gradient[i] {
			// The conversions keep compilers from fusing, so that every machine takes the same step.
			v := float64(m.keep*float64(velocity[j])) + float64(g)
			velocity[j] = float32(v)
			if m.nesterov {
				v = float64(g) + float64(m.keep*v)
			}
			params[j] = float32(float64(params[j]) - float64(rate*v))
		}
	}
	return nil
}

// validateRule checks the name and the settings of the caller's own rule.
func validateRule(o Optimizer) error {
	name := ""
	if err := calling("its name", func() error { name = o.Rule.Name(); return nil }); err != nil {
		return &SettingError{"rule of the optimizer", fmt.Sprintf("a %T", o.Rule), "one that has a name: " + err.Error()}
	}
	if err := validateName("name of the optimizer's rule", name); err != nil {
		return err
	}
	switch {
	case slices.Contains(methods(), Method(name)):
		return &SettingError{"name of the optimizer's rule", name, "a name of its own, not that of a method that is built in"}
	case string(o.Method) != name:
		return &SettingError{"method of the optimizer", string(o.Method), fmt.Sprintf("%q, the name of its rule; make it by train.OptimizerOf", name)}
	case o.Beta1 != 0 || o.Beta2 != 0 || o.Epsilon != 0:
		return &SettingError{"betas and epsilon of the optimizer", fmt.Sprint(o.Beta1, o.Beta2, o.Epsilon), "0, as its rule has settings of its own"}
	case len(o.Groups) > 0:
		return &SettingError{"number of the optimizer's groups", len(o.Groups), "0 for a rule of your own, which finds parameters by train.Update.Names"}
	}
	if _, err := json.Marshal(o.Rule); err != nil {
		return &SettingError{"rule of the optimizer", fmt.Sprintf("a %T that isn't data (%v)", o.Rule, err), `exported fields that encode as JSON, which are part of a run's identity; mark others as json:"-", and name in Name what they do`}
	}
	return nil
}

// validateName checks a name that is released in a line of text. Characters that aren't graphic could break the line or
// reverse the order of the text.
func validateName(what, name string) error {
	const most = 200
	if strings.TrimSpace(name) == "" || len(name) > most || !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsGraphic(r) }) {
		return &SettingError{what, fmt.Sprintf("%.40q", name), fmt.Sprintf("a line of text, of at most %d bytes", most)}
	}
	return nil
}

// stateLengths returns the lengths of a rule's state.
func stateLengths(r Rule, l engine.Layout) ([]int, error) {
	var lengths []int
	if err := calling("State", func() error { lengths = slices.Clone(r.State(slices.Clone(l.Lengths))); return nil }); err != nil {
		return nil, &SettingError{"rule of the optimizer", r.Name(), "one whose state has lengths: " + err.Error()}
	}
	total := 0
	for _, n := range lengths {
		if n < 0 || n > math.MaxInt32-total {
			return nil, &SettingError{"state of optimizer " + r.Name(), fmt.Sprintf("%.100s", fmt.Sprint(lengths)), fmt.Sprintf("lengths, 0 or above, that add up to at most %d", math.MaxInt32)}
		}
		total += n
	}
	return lengths, nil
}

// calling calls a caller's function on a new goroutine, and turns its panic into an error. It also returns an error if
// the function ends its goroutine, as FailNow of a test does: otherwise an engine's worker would end in the middle of a
// step.
func calling(what string, f func() error) (err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		returned := false
		defer func() {
			switch v := recover(); {
			case v != nil:
				text, _, _ := strings.Cut(fmt.Sprint(v), "\n")
				err = fmt.Errorf("%s panicked: %.200s", what, text)
			case !returned:
				err = fmt.Errorf("%s ended its goroutine, as runtime.Goexit and FailNow of a test do; return an error instead", what)
			}
		}()
		err = f()
		returned = true
	}()
	<-done
	return err
}
