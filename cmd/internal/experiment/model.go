package experiment

import (
	"github.com/dptrain/dptrain/cmd/internal/experiment/features"
	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/internal/datasets"
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

// modelOfSet describes the samples of a named data set as an experiment's network takes them.
func modelOfSet(e settings.Experiment) (release.Model, datasets.Info, error) {
	info, err := datasets.Describe(e.Dataset)
	m := release.Model{Shape: info.SampleShape, Outputs: info.Classes, Vocabulary: info.Vocabulary, Task: release.Classification}
	switch {
	case featured[e.Dataset] != "":
		m.Shape = []int{features.Size}
	case m.Vocabulary > 0:
		m.Shape = []int{e.TextLength}
	}
	return m, info, err
}

// modelOf builds the network that a description names.
func modelOf(m release.Model) (train.Model, error) {
	model, err := m.Build()
	if err != nil {
		err = usagef("model: %w", err)
	}
	return model, err
}
