// Command dptrain trains models with differential privacy and tunes their hyperparameters privately.
//
// Each command is a file: an options struct, its flags and a run function. What commands share lies below: package term
// prints, waits and fails; package flags makes settings of a command line; package engines names the engines; package
// execution carries out a plan in a folder, and package experiment does the work. Results go to standard output,
// progress and log to standard error.
package main
