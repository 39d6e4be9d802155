// Package execution carries out plans in folders: from settings to a released folder. [Carry] reads the data and opens
// the GPUs beside the accountant, records the release in the ledger, trains, and writes what is released; it returns
// the [Result]. [Dry] plans alone. Neither writes to standard output: who calls them is handed the plan when it is to
// be shown, and shows the result.
//
// [Cluster] has the workers of a cluster carry out trials.
package execution
