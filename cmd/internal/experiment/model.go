package experiment

import (
	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/internal/networks"
	"github.com/dptrain/dptrain/train"
)

// describeModel adds an experiment's network to the description of its data.
func describeModel(e settings.Experiment, m release.Model) release.Model {
	m.Dataset, m.Network, m.Activation = e.Dataset, e.Model, release.Activation(e.Activation)
	if m.Vocabulary != 0 {
		m.Tokens = vocabularyName
	}
	return m
}

// vocabularyName names the vocabulary of all texts: see package wordpiece.
const vocabularyName = "bert-base-cased"

func optionsOf(m release.Model) networks.Options {
	return networks.Options{Activation: networks.TemperedSigmoid(m.Activation), Vocabulary: m.Vocabulary}
}

// layersOf returns the layers of the network that a description names.
func layersOf(m release.Model) ([]networks.Layer, error) {
	return networks.Layers(m.Network, m.Shape, m.Outputs, optionsOf(m))
}

// modelOf builds the network that a description names.
func modelOf(m release.Model) (train.Model, error) {
	model, err := networks.New(m.Network, m.Shape, m.Outputs, optionsOf(m))
	if err != nil {
		err = usagef("model: %w", err)
	}
	return model, err
}
