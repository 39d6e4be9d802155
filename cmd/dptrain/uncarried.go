package main

import "github.com/dptrain/dptrain/configs"

// checkCarried refuses settings of the optimizer that package experiment doesn't hand to training yet, so that none is
// silently ignored.
func checkCarried(t configs.Training) error {
	plain := t.Optimizer == configs.OptimizerSGD || t.Optimizer == configs.OptimizerAdam
	if !plain || t.WeightDecay != nil || t.Schedule != "" || t.Warmup != 0 || t.Accumulate > 1 || t.Average != 0 {
		return usagef("training: this program trains by dp-sgd and dp-adam alone, at a constant learning rate; choose one of them, or use package train")
	}
	return nil
}
