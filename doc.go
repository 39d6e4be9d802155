// Package dptrain is the root of a framework for differentially private training and private
// hyperparameter tuning; it holds no code. A program imports
//
//   - train, to train a Gorgonia model with DP-SGD or DP-Adam,
//   - tuner, to tune its hyperparameters on a random subset of the data, privately,
//   - accountant, to compute what either costs,
//   - cpu, the engine that does the work on any machine, and cuda, the one for NVIDIA GPUs.
//
// The command line tool is cmd/dptrain. Which package may import which is held by deps_test.go.
package dptrain
