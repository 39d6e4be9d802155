package train

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/dptrain/dptrain/internal/engine"
)

// Method is the name of an optimizer's algorithm.
type Method = engine.Method

// The methods. Engines have DPSGD and DPAdam built in.
const (
	DPSGD             = engine.SGD
	DPAdam            = engine.Adam
	DPMomentum Method = "dp-momentum"
	DPNesterov Method = "dp-nesterov"
	DPAdamW    Method = "dp-adamw"
)

func methods() []Method { return []Method{DPSGD, DPMomentum, DPNesterov, DPAdam, DPAdamW} }

// Optimizer turns noisy mean gradients into parameter updates. Make one by [SGD], [Momentum], [Nesterov], [Adam] or
// [AdamW], or by [OptimizerOf] from a rule of your own; then set other fields, as in
//
//	o := train.AdamW(0.003, 0.01)
//	o.Schedule = train.Warmup(0.05, train.Cosine(0))
//	o.Average = 0.999
//
// Updates are post-processing of noisy gradients, so an optimizer costs no privacy. All of its settings are public, and
// part of a run's identity: runs that differ in any of them draw different noise.
//
// Engines compute the update of a plain SGD or Adam by themselves, in the same pass as the noise, and the CPU also
// with a schedule. Any other optimizer runs here, after each step, on the noisy mean gradient rounded to single
// precision.
type Optimizer struct {
	Method       Method  // one of those above, or the name of Rule
	LearningRate float64 // multiplied by the factor of Schedule at each step
	Beta1, Beta2 float64 // of DPAdam and DPAdamW: how much the moments keep, in [0, 1)
	Epsilon      float64 // of DPAdam and DPAdamW, above 0
	Momentum     float64 // of DPMomentum and DPNesterov: the share of its velocity that is kept, in [0, 1)

	// WeightDecay is λ of decoupled decay: each update first subtracts learning rate · λ · θ from all parameters, also
	// biases (Loshchilov and Hutter, "Decoupled Weight Decay Regularization", 2019). DPAdam has none: use DPAdamW.
	WeightDecay float64
	// Groups multiply learning rate and decay of some parameters. An own Rule has none: it reads [Update.Names].
	Groups []ParameterGroup
	// Schedule makes the learning rate depend on the step. Nil keeps it constant.
	Schedule Schedule
	// Accumulate is the number of noisy means that are averaged into one update; 0 and 1 mean one each. The last update
	// of a run averages the noisy means that are left. It doesn't save memory: an engine splits minibatches of any size
	// into microbatches by itself. It costs as much as its steps, and a run with fewer steps at a larger sampling rate
	// often has less noise for the same epsilon.
	Accumulate int
	// Average, if it isn't 0, makes results, scores and predictions use an average of the parameters after each
	// update, in place of the last ones. After update t the average moves by 1-β of the way to the parameters, where β
	// is the smaller of Average and (t-1)/t. So 1 gives the mean of all updates, and 0.999 the mean of the first
	// thousand, followed by an exponential average. It is in [0, 1].
	Average float64
	// Rule is the caller's own algorithm, for an optimizer that [OptimizerOf] made.
	Rule Rule
}

// SGD returns the DP-SGD optimizer: θ ← θ − η G for the noisy mean gradient G.
func SGD(learningRate float64) Optimizer {
	return Optimizer{Method: DPSGD, LearningRate: learningRate}
}

// Momentum returns SGD with momentum μ (Polyak, 1964): v ← μ v + G, θ ← θ − η v. In the long run its steps are 1/(1-μ)
// times as long as SGD's steps, so it needs a learning rate that is smaller by this factor.
func Momentum(learningRate, momentum float64) Optimizer {
	return Optimizer{Method: DPMomentum, LearningRate: learningRate, Momentum: momentum}
}

// Nesterov returns SGD with Nesterov's momentum μ, as Sutskever et al. (2013) rewrote it: v ← μ v + G,
// θ ← θ − η (G + μ v).
func Nesterov(learningRate, momentum float64) Optimizer {
	return Optimizer{Method: DPNesterov, LearningRate: learningRate, Momentum: momentum}
}

// Adam returns the DP-Adam optimizer with the defaults of Kingma and Ba (2015): β1 = 0.9, β2 = 0.999,
// ε = 1e-8.
func Adam(learningRate float64) Optimizer {
	return Optimizer{Method: DPAdam, LearningRate: learningRate, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8}
}

// AdamW returns Adam with decoupled weight decay λ: each update first subtracts η λ θ from all parameters θ.
func AdamW(learningRate, decay float64) Optimizer {
	o := Adam(learningRate)
	o.Method, o.WeightDecay = DPAdamW, decay
	return o
}

// OptimizerOf returns the optimizer of the caller's own rule. If the rule's Name panics, settings with the optimizer
// are refused.
func OptimizerOf(rule Rule, learningRate float64) Optimizer {
	o := Optimizer{LearningRate: learningRate, Rule: rule}
	if rule != nil {
		_ = calling("its name", func() error { o.Method = Method(rule.Name()); return nil }) // validateRule reports it
	}
	return o
}

// ScalesWithData reports whether the best learning rate grows in proportion to the size of the data, at the same
// sampling rate: for SGD with and without momentum, and for a [Rule] that is a [DataScaler] and says so. If it does,
// tuning on a subset scales the winner's learning rate to the final run's data.
func (o Optimizer) ScalesWithData() bool {
	if o.Rule != nil {
		rule, ok := o.Rule.(DataScaler)
		return ok && rule.ScalesWithData()
	}
	return o.Method == DPSGD || o.Method == DPMomentum || o.Method == DPNesterov
}

// String returns the method and all settings that aren't its defaults, except the learning rate and the names of
// groups' parameters, in words: "dp-sgd", or "dp-momentum 0.9, cosine to 0, average 0.999".
func (o Optimizer) String() string {
	text := string(o.Method)
	switch adam := Adam(0); o.Method {
	case DPMomentum, DPNesterov:
		text += " " + number(o.Momentum)
	case DPAdam, DPAdamW:
		if o.Beta1 != adam.Beta1 || o.Beta2 != adam.Beta2 || o.Epsilon != adam.Epsilon {
			text += fmt.Sprintf(" (beta1 %v, beta2 %v, epsilon %v)", o.Beta1, o.Beta2, o.Epsilon)
		}
	}
	words := []string{text}
	if o.WeightDecay != 0 {
		words = append(words, "weight decay "+number(o.WeightDecay))
	}
	for _, g := range o.Groups {
		words = append(words, fmt.Sprintf("group of %d (rate × %s, decay × %s)", len(g.Parameters), number(g.LearningRate), number(g.WeightDecay)))
	}
	if o.Schedule != nil {
		words = append(words, o.Schedule.Name())
	}
	if o.Accumulate > 1 {
		words = append(words, fmt.Sprintf("%d noisy means to an update", o.Accumulate))
	}
	if o.Average != 0 {
		words = append(words, "average "+number(o.Average))
	}
	return strings.Join(words, ", ")
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// MarshalJSON encodes all settings: a schedule's name, and a rule's name, type and exported fields. It encodes a plain
// SGD or Adam as earlier versions did: identities of runs are hashes of the encoding.
func (o Optimizer) MarshalJSON() ([]byte, error) {
	var schedule string
	if o.Schedule != nil {
		schedule = o.Schedule.Name()
	}
	var own *ruleText
	if o.Rule != nil {
		fields, err := json.Marshal(o.Rule)
		if err != nil {
			return nil, fmt.Errorf("encode optimizer %s: %w", o.Method, err)
		}
		own = &ruleText{o.Rule.Name(), typesOf(o.Rule), fields}
	}
	return json.Marshal(struct {
		Method       Method
		LearningRate float64
		Beta1, Beta2 float64
		Epsilon      float64
		Momentum     float64          `json:",omitzero"`
		WeightDecay  float64          `json:",omitzero"`
		Groups       []ParameterGroup `json:",omitempty"`
		Schedule     string           `json:",omitzero"`
		Accumulate   int              `json:",omitzero"`
		Average      float64          `json:",omitzero"`
		Rule         *ruleText        `json:",omitzero"`
	}{o.Method, o.LearningRate, o.Beta1, o.Beta2, o.Epsilon, o.Momentum, o.WeightDecay, o.Groups, schedule, o.Accumulate, o.Average, own})
}

type ruleText struct {
	Name, Type string // Type: see typesOf
	Fields     json.RawMessage
}

// fused reports whether an engine has the optimizer built in. schedules reports whether the engine takes the rate of
// each step.
func (o Optimizer) fused(schedules bool) bool {
	builtIn := o.Method == DPSGD || o.Method == DPAdam
	return builtIn && o.Rule == nil && o.WeightDecay == 0 && len(o.Groups) == 0 && (o.Schedule == nil || schedules) && o.Accumulate <= 1 && o.Average == 0
}

// engine returns a fused optimizer in an engine's form.
func (o Optimizer) engine() engine.Optimizer {
	return engine.Optimizer{Method: o.Method, LearningRate: o.LearningRate, Beta1: o.Beta1, Beta2: o.Beta2, Epsilon: o.Epsilon}
}

// Validate returns a [*SettingError] for the first invalid field, or nil.
func (o Optimizer) Validate() error {
	switch {
	case !(o.LearningRate > 0 && finite(o.LearningRate)):
		return &SettingError{"learning rate", o.LearningRate, "a finite number above 0"}
	case !(o.WeightDecay >= 0 && finite(o.WeightDecay)):
		return &SettingError{"weight decay", o.WeightDecay, "a finite number, 0 or above"}
	case o.WeightDecay > 0 && o.Method == DPAdam:
		return &SettingError{"weight decay", o.WeightDecay, "0 for " + string(DPAdam) + "; choose " + string(DPAdamW) + ", which decays parameters apart from gradients"}
	case o.Accumulate < 0:
		return &SettingError{"accumulate", o.Accumulate, "the number of noisy means in an update, 0 or above"}
	case !(o.Average >= 0 && o.Average <= 1):
		return &SettingError{"average", o.Average, "a number in [0, 1]; 0 for none, 1 for the mean of all updates"}
	}
	if err := o.validateUnused(); err != nil {
		return err
	}
	if err := o.validateGroups(); err != nil {
		return err
	}
	if o.Schedule != nil {
		if err := validateSchedule(o.Schedule); err != nil {
			return err
		}
	}
	if o.Rule != nil {
		return validateRule(o)
	}
	switch o.Method {
	case DPSGD:
		return nil
	case DPMomentum, DPNesterov:
		if !(o.Momentum >= 0 && o.Momentum < 1) {
			return &SettingError{"momentum", o.Momentum, "a number in [0, 1)"}
		}
		return nil
	case DPAdam, DPAdamW:
		return validateAdam(o)
	}
	return &SettingError{"optimizer", cmp.Or(oneLine(string(o.Method)), "missing"), methodNames() + ", or a rule by train.OptimizerOf"}
}

func methodNames() string {
	var names []string
	for _, m := range methods() {
		names = append(names, string(m))
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// validateUnused refuses fields that are NaN or infinite even if they are unused, because they are part of a run's
// identity, and a momentum that has no effect.
func (o Optimizer) validateUnused() error {
	if !finite(o.Beta1) || !finite(o.Beta2) || !finite(o.Epsilon) || !finite(o.Momentum) {
		if o.Method == DPAdam || o.Method == DPAdamW {
			if err := validateAdam(o); err != nil {
				return err
			}
		}
		return &SettingError{"optimizer", fmt.Sprintf("%s with beta1 %v, beta2 %v, epsilon %v, momentum %v", o.Method, o.Beta1, o.Beta2, o.Epsilon, o.Momentum), "finite numbers"}
	}
	if o.Momentum != 0 && o.Method != DPMomentum && o.Method != DPNesterov {
		return &SettingError{"momentum", o.Momentum, fmt.Sprintf("0, or the optimizer %s or %s; this one, %s, has none", DPMomentum, DPNesterov, o.Method)}
	}
	return nil
}

func validateAdam(o Optimizer) error {
	switch {
	case !(o.Beta1 >= 0 && o.Beta1 < 1):
		return &SettingError{"beta1", o.Beta1, "a number in [0, 1)"}
	case !(o.Beta2 >= 0 && o.Beta2 < 1):
		return &SettingError{"beta2", o.Beta2, "a number in [0, 1)"}
	case !(o.Epsilon > 0 && finite(o.Epsilon)):
		return &SettingError{"epsilon of Adam", o.Epsilon, "a finite number above 0"}
	}
	return nil
}

// oneLine returns a text, quoted and cut if it is neither empty nor a short line.
func oneLine(text string) string {
	if text == "" || validateName("", text) == nil {
		return text
	}
	return fmt.Sprintf("%.40q", text)
}
