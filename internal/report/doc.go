// Package report writes the directory that a run leaves behind, and keeps apart what may be published
// and what may not.
//
//	DIR/released/model.safetensors      the final parameters
//	             model.json             how samples are made for them, and what comes out
//	             hyperparameters.json   what was selected, and what the final run used
//	             privacy.json           the guarantee, for programs
//	             STATEMENT.md           the same, for people
//	DIR/private/                        K, trials, scores, timings, settings, log; mode 0700
//
// The guarantee covers the selected model and its hyperparameters, and nothing in private/: the number
// of trials, the scores of those that lost, how long they took and how large the tuning subset
// happened to be all depend on the data in ways that nobody has accounted for. For the same reason
// nothing in released/ carries a time or a count of trials, and its files are all dated to the beginning of
// the day.
//
// A [Dir] is built under another name beside its final place and renamed when it is complete, so an
// interrupted run leaves nothing that could be taken for a result.
//
// Models are stored as safetensors.
package report
