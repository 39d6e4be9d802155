package dptrain_test

import (
	"context"
	"fmt"
	"log"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/datasets"
	"github.com/dptrain/dptrain/models"
	"github.com/dptrain/dptrain/train"
	"github.com/dptrain/dptrain/tuner"
)

// The paper's network for MNIST, with a learning rate that is tuned privately: 40 epochs are 1,878 steps.
func Example() {
	if err := tuneMNIST(context.Background(), 1878); err != nil {
		log.Fatal(err)
	}
}

// tuneMNIST releases a network for MNIST, its learning rate tuned on the same private images: epsilon 4 covers both.
func tuneMNIST(ctx context.Context, steps int) error {
	set, err := datasets.Open(ctx, "mnist", datasets.Options{})
	if err != nil {
		return err
	}
	data, err := train.NewClassification(set.Train.Samples, set.Train.Labels, set.Train.Classes)
	if err != nil {
		return err
	}
	test, err := train.NewClassification(set.Test.Samples, set.Test.Labels, set.Test.Classes)
	if err != nil {
		return err
	}
	model, err := models.New("cnn", set.Train.SampleShape, set.Train.Classes, models.Options{})
	if err != nil {
		return err
	}
	run := tuner.Candidate{SamplingRate: 0.0213, Steps: steps, ClippingNorm: 1}
	settings, guarantee, err := tuner.Calibrate(tuner.Settings{
		Method: tuner.Variant1, SubsetRate: 0.1, Repetitions: accountant.Poisson{Mean: 15}, // trials, each on a tenth
		Space: tuner.LearningRates(run, 0.01, 0.03, 0.1, 0.3, 1), Optimizer: train.SGD(0), Samples: data.Samples(),
	}, 4, 1e-5, accountant.Options{})
	if err != nil {
		return err
	}
	plan, err := tuner.NewPlan(settings, train.NewKey())
	if err != nil {
		return err
	}
	executor := tuner.Executor{Engine: cpu.New(cpu.Options{}), Model: model, Data: data.Data, Test: test}
	result, err := executor.Run(ctx, plan)
	if err != nil {
		return err
	}
	fmt.Printf("test accuracy %.3f with learning rate %.3g, epsilon %.2f at delta %g\n", result.Released.TestScore,
		result.Released.Hyperparameters.Optimizer.LearningRate, guarantee.Epsilon, guarantee.Delta)
	return nil
}
