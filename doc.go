// Package dptrain is the root of a framework for differentially private training and private hyperparameter tuning. Its
// only code is an example, which tunes and trains a network for MNIST. A program imports
//
//   - train, to train a Gorgonia model with DP-SGD or DP-Adam,
//   - tuner, to tune its hyperparameters on a random subset of the data, privately,
//   - models, for the models of the paper and others by name,
//   - datasets, for public data sets, and datasets/table, for tables of its own,
//   - accountant, to compute the privacy cost of either,
//   - cpu, the engine that trains on any machine, and cuda, the one for NVIDIA GPUs.
//
// The command line tool is cmd/dptrain. The table in house_test.go lists the packages that each package may import.
package dptrain
