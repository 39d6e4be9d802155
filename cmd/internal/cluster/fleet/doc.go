// Package fleet makes jobs of package cluster from orders of package remote: for a campaign or a tuning that has other
// machines train, and for an [Executor] that does such jobs on this machine.
//
// A job's lane is its data set and, if the order asks for one, the engine; own files are named by a hash of their
// content. The body is the order without its key. The key is the job's secret: the board gives it to the worker that
// begins the job, and no stream has it.
package fleet
