// Package ui shows log lines and progress on standard error: make a [Console] by [New], log by [Console.Log], and
// report work by [Console.Progress]. Results don't go through it.
//
// On a terminal, progress is a bar below the log lines. Anywhere else it is a log line every ten seconds.
//
// Log and progress can contain private facts; package report lists them. A terminal shows the number of finished
// trials. Scores go to the private log, and to standard error only at level debug.
package ui
