package experiment

import (
	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/internal/released"
	"github.com/dptrain/dptrain/train"
)

// describeModel adds an experiment's network to the description of its data.
func describeModel(e settings.Experiment, m release.Model) release.Model {
	m.Dataset, m.Network, m.Activation = e.Dataset, e.Model, release.Activation(e.Activation)
	if m.Vocabulary != 0 {
		m.Tokens = released.Tokens
	}
	return m
}

// modelOf builds the network that a description names.
func modelOf(m release.Model) (train.Model, error) {
	model, err := m.Build()
	if err != nil {
		err = usagef("model: %w", err)
	}
	return model, err
}
