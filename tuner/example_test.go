package tuner_test

import (
	"fmt"
	"log"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/train"
	"github.com/dptrain/dptrain/tuner"
)

// Settings that meet epsilon 4: how much noise do 15 expected trials on a tenth of MNIST and a final run on the rest
// need?
func ExampleCalibrate() {
	steps, err := train.Steps(40, 0.0213)
	if err != nil {
		log.Fatal(err)
	}
	settings := tuner.Settings{
		Method:      tuner.Variant1,
		SubsetRate:  0.1,
		Repetitions: accountant.Poisson{Mean: 15},
		Space:       tuner.LearningRates(tuner.Candidate{SamplingRate: 0.0213, Steps: steps, ClippingNorm: 1}, 0.01, 0.1, 1),
		Optimizer:   train.SGD(0),
		Samples:     60000,
	}
	settings, guarantee, err := tuner.Calibrate(settings, 4, 1e-5, accountant.Options{Mode: accountant.Best})
	if err != nil {
		log.Fatal(err)
	}
	run := settings.Space.(tuner.Grid).Runs()[0] // the run of all candidates
	fmt.Printf("noise multiplier %.3f, epsilon %.2f at delta %g\n", run.NoiseMultiplier, guarantee.Epsilon, guarantee.Delta)

	// One run with that noise costs less: the difference is the cost of the search.
	alone := train.Privacy{SamplingRate: 0.0213, Steps: steps, NoiseMultiplier: run.NoiseMultiplier}
	guarantee, err = alone.Guarantee(1e-5, accountant.Options{Mode: accountant.Best})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("one run alone: epsilon %.2f\n", guarantee.Epsilon)
	// Output:
	// noise multiplier 1.483, epsilon 4.00 at delta 1e-05
	// one run alone: epsilon 3.02
}
