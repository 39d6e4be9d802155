// Package report writes a run's directory: call [Create] before the training, [Dir.WriteRelease] and
// [Dir.WritePrivate] after it, and [Dir.Publish] at the end. [ReadModel] reads a released model back.
//
//	DIR/released/model.safetensors      the parameters
//	             model.json             how files become samples, the network, its outputs
//	             hyperparameters.json   the selected hyperparameters, and the final run's
//	             privacy.json           the guarantee, for programs
//	             STATEMENT.md           the guarantee, for people
//	DIR/private/                        K, trials, scores, timings, settings, log; mode 0700
//
// The guarantee covers the released model and its hyperparameters, and nothing in private/: the number of trials, their
// scores, their times and the size of the tuning subset depend on the data, and no accountant charges for them. So no
// file in released/ contains a time or a number of trials, and the files' modification times are the beginning of the
// day.
//
// A [Dir] is written under another name beside its final path, and renamed when it is complete. So an interrupted run
// leaves nothing that could be mistaken for a result.
package report
