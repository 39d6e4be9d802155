package experiment

import (
	"context"
	"errors"
	"fmt"

	"github.com/dptrain/dptrain/cmd/internal/experiment/features"
	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/internal/datasets"
	"github.com/dptrain/dptrain/internal/given"
	"github.com/dptrain/dptrain/internal/released"
	"github.com/dptrain/dptrain/train"
)

// featured names, by data set, the weights of the network that makes samples of its images.
var featured = map[string]string{"cifar-10": "resnet20"}

// loadSet loads a named data set. Texts are cut to textLength tokens. The engine computes features of images.
func loadSet(ctx context.Context, name string, textLength int, e train.Engine, f Follower) (l loaded, err error) {
	if weights, ok := featured[name]; ok {
		l, err = loadFeatures(ctx, name, weights, e, f)
	} else {
		l, err = loadSamples(ctx, name, textLength, f)
	}
	if err != nil {
		return loaded{}, err
	}
	info, err := datasets.Describe(name)
	l.model.Classes = info.ClassNames
	return l, err
}

// loadSamples loads a data set whose samples are trained on as they are.
func loadSamples(ctx context.Context, name string, textLength int, f Follower) (loaded, error) {
	set, err := datasets.Open(ctx, name, datasets.Options{Progress: Downloads(f), TextLength: textLength})
	if err != nil {
		return loaded{}, err
	}
	warnOfEdition(f, name, set.Edition)
	training, err := classified(&set.Train)
	if err != nil {
		return loaded{}, fmt.Errorf("%s: training set: %w", name, err)
	}
	test, err := classified(&set.Test)
	if err != nil {
		return loaded{}, fmt.Errorf("%s: test set: %w", name, err)
	}
	return loaded{train: training.Data, test: test, whole: training, model: release.Model{
		Image: released.ImageOf(set.Train.SampleShape, set.Normalisation.Mean, set.Normalisation.Std),
		Shape: set.Train.SampleShape, Vocabulary: set.Train.Vocabulary, Outputs: set.Train.Classes, Task: release.Classification,
	}}, nil
}

// classified returns a split as inputs of models: numbers, or tokens and their weights. It keeps the split's memory.
func classified(s *datasets.Split) (*train.Classification, error) {
	samples := given.Away(train.Column{Floats: s.Samples})
	if s.Tokens != nil {
		samples = given.Away(train.Column{Ints: s.Tokens}, train.Column{Floats: s.Weights})
	}
	return train.ClassificationOf(samples, s.Labels, s.Classes)
}

// loadFeatures loads a data set of images as features, which the engine computes by a network of the given weights, or
// reads if they were computed before.
func loadFeatures(ctx context.Context, name, weights string, e train.Engine, f Follower) (l loaded, err error) {
	o := datasets.Options{Progress: Downloads(f)}
	x, err := extractorOf(ctx, weights, e, o)
	if err != nil {
		return l, err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	set, err := datasets.OpenRaw(ctx, name, o)
	if err != nil {
		return l, err
	}
	warnOfEdition(f, name, set.Edition)
	of := func(part string, images *datasets.Images) (*train.Classification, error) {
		values, err := x.Of(ctx, features.Images{N: images.N, Read: func(dst []float32, first int) { images.Normalise(dst, first, set.Normalisation) }}, features.Options{
			Progress: func(done, total int) {
				f.Progress(float64(done), float64(total), "features of "+part+" images")
			},
			Warn: func(err error) {
				f.Warn(fmt.Sprintf("features are not kept, and computed anew each time: %v", err))
			},
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %s set: %w", name, part, err)
		}
		labels := make([]int32, images.N)
		for i, label := range images.Labels {
			labels[i] = int32(label)
		}
		return train.ClassificationOf(given.Away(train.Column{Floats: values}), labels, images.Classes)
	}
	training, err := of("training", &set.Train)
	if err != nil {
		return l, err
	}
	test, err := of("test", &set.Test)
	if err != nil {
		return l, err
	}
	return loaded{train: training.Data, test: test, whole: training, model: release.Model{
		Image:    released.ImageOf(set.Train.Shape, set.Normalisation.Mean, set.Normalisation.Std),
		Features: weights, Shape: []int{features.Size}, Outputs: set.Train.Classes, Task: release.Classification,
	}}, nil
}

// extractorOf loads the network that computes features by the named weights.
func extractorOf(ctx context.Context, weights string, e train.Engine, o datasets.Options) (*features.Extractor, error) {
	tensors, err := datasets.Weights(ctx, weights, o)
	if err != nil {
		return nil, err
	}
	x, err := features.New(e, features.WeightsOf(tensors))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", weights, err)
	}
	return x, nil
}

// warnOfEdition warns of files in the right format that aren't the published edition.
func warnOfEdition(f Follower, name string, edition datasets.State) {
	if edition == datasets.Unofficial {
		f.Warn(name + ": the files are not the published edition; results differ a little from published ones")
	}
}

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
