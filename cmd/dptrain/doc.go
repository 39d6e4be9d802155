// Command dptrain trains models with differential privacy and tunes their hyperparameters privately.
//
// The package is wiring and nothing else: settings come from package configs, plans and runs from tuner
// and train, costs from accountant, and the engine is named here. Each command is an options struct, its
// flags and a run function; results go to standard output, progress and log to standard error.
package main
