package train

import (
	"fmt"
	"slices"
)

// ParameterGroup gives some parameters of a model a learning rate and a weight decay of their own:
//
//	o := train.AdamW(0.003, 0.01)
//	o.Groups = []train.ParameterGroup{{Parameters: []string{"bias", "scale"}, LearningRate: 1, WeightDecay: 0}}
//
// leaves biases and the scales of normalisations without decay. Momentum and moments don't depend on the factors.
type ParameterGroup struct {
	Parameters   []string // names of [Model.Parameters]; no two groups share one
	LearningRate float64  // factor of the optimizer's learning rate, above 0; decay is multiplied by it too
	WeightDecay  float64  // factor of the optimizer's WeightDecay, 0 or above; 0 turns decay off
}

// Clone returns a copy of o that shares no slices with it.
func (o Optimizer) Clone() Optimizer {
	o.Groups = slices.Clone(o.Groups)
	for i, g := range o.Groups {
		o.Groups[i].Parameters = slices.Clone(g.Parameters)
	}
	return o
}

// groupsOf returns the group of each of the named parameters. Outside all groups factors are 1.
func (o Optimizer) groupsOf(names []string) ([]ParameterGroup, error) {
	out := slices.Repeat([]ParameterGroup{{LearningRate: 1, WeightDecay: 1}}, len(names))
	for _, g := range o.Groups {
		for _, name := range g.Parameters {
			i := slices.Index(names, name)
			if i < 0 {
				return nil, &SettingError{"parameter of a group", fmt.Sprintf("%q", name), fmt.Sprintf("one of the model's: %q", names)}
			}
			out[i] = g
		}
	}
	return out, nil
}

func (o Optimizer) validateGroups() error {
	seen := map[string]bool{}
	for _, g := range o.Groups {
		switch {
		case len(g.Parameters) == 0:
			return &SettingError{"parameters of a group", "missing", "names of the model's parameters"}
		case !(g.LearningRate > 0 && finite(g.LearningRate)):
			return &SettingError{"learning rate of a group", g.LearningRate, "a finite factor above 0; make a parameter that isn't to be trained one of the model's Constants, because its gradient counts in the norm that is clipped"}
		case !(g.WeightDecay >= 0 && finite(g.WeightDecay)):
			return &SettingError{"weight decay of a group", g.WeightDecay, "a finite factor, 0 or above"}
		}
		for _, name := range g.Parameters {
			if name == "" || seen[name] {
				return &SettingError{"parameter of a group", fmt.Sprintf("%q", name), "a name, in one group and there once"}
			}
			seen[name] = true
		}
	}
	return nil
}
