// Command dptrain trains models with differential privacy and tunes their hyperparameters privately.
//
// Each command is an options struct, its flags and a run function. It resolves settings by package configs, has package
// experiment or accountant do the work, and keeps what people meet: flags, help, tables, JSON, progress and exit codes.
// Results go to standard output, progress and log to standard error. The engines are named here, in newEngine.
//
// A computation that can take long runs under await or follow, so that an interruption ends the command at once.
package main
