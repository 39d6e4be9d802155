// Package fleet joins what a campaign or a tuning wants done by other machines, and how it gets there: orders of
// package remote become jobs of package cluster, and a [Crew] does such jobs on this machine.
//
// A job's lane is its data set and, if the order asks for one, the engine; own files are named by a hash of their
// content, of which the server sees a keyed hash. The body is the order without its key. The key is the job's secret:
// the board gives it to the worker that begins the job, and to nobody else.
package fleet
