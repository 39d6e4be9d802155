package models

import (
	"fmt"
	"slices"
	"strings"
)

// Names lists the models that [New] knows.
func Names() []string { return []string{"cnn", "mlp"} }

// New builds a model by name for 28×28 grey images and ten classes.
func New(name string, o Options) (Network, error) {
	switch name {
	case "cnn":
		return CNN(o)
	case "mlp":
		return MLP(o, 784, 120, 120, 10)
	}
	names := Names()
	slices.Sort(names)
	return Network{}, fmt.Errorf("unknown model %q; the models are %s", name, strings.Join(names, ", "))
}
