// Package execution carries out plans in folders: from settings to a released folder. [Carry] reads the data and opens
// the GPUs beside the accountant, records the release in the ledger, trains, and writes the released folder; it
// returns the [Result]. [Dry] only plans. Neither writes to standard output: the caller is handed the plan in time to
// show it, and shows the result.
//
// [Cluster] has the workers of a cluster carry out trials.
package execution
