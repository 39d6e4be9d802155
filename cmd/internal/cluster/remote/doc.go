// Package remote has workers train the runs of a campaign, or the trials of a tuning. A [Job] says what to train: a
// run's settings and its key. A [Result] has the files that the run releases, and the private content of its folder.
//
// The coordinator keeps the folders and the ledger. It hands out jobs on a board of package cluster, by [Workers] or by
// [Trials]. Elsewhere an [Executor] takes them from the cluster, and its [Worker] trains them, without a folder.
//
// A job's lane is its data set and, if one is asked for, the engine; own files are named by a hash of their content.
// Jobs and results have encodings, whose decoders take nothing that their encoders don't write.
//
// # Privacy
//
// With a job's key and the released model, the noise can be removed: the key is as private as the data. No encoding of
// a job has it. It is the secret of the cluster's job, which the board gives to the worker that begins the job, and no
// stream has it. A result is private too, but for its released files.
package remote
