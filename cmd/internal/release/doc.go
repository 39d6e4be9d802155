// Package release writes what a run releases, by [Release.Write]. Package released reads a released model back.
//
//	released/model.safetensors      the parameters
//	         model.json             how files become samples, the network, its outputs
//	         hyperparameters.json   the selected hyperparameters, and the final run's
//	         privacy.json           the guarantee, for programs
//	         STATEMENT.md           the guarantee, for people
//	         curve.csv, .png, .svg  the learning curve of the run that made the parameters, if there is one
//
// The guarantee covers the released model and its hyperparameters. It doesn't cover the number of trials, their scores,
// their times and the size of the tuning subset: they depend on the data, and no accountant charges for them. So no
// file contains a time or a number of trials. Package runs writes the rest of a run's folder.
package release
