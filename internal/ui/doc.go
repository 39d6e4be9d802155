// Package ui shows the operator of a run what is going on: log lines and progress, on standard error.
// Results are no business of its own; they go to standard output.
//
// On a terminal, progress is a bar, and log lines push it down. Anywhere else it is a log line now and
// then, so that the log of a night's run stays readable.
//
// Progress and log may tell private facts (package report says which): how many trials are done shows on
// the operator's screen; their scores go to the private log, and to the screen only at level debug.
package ui
