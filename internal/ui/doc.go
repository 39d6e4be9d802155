// Package ui shows log lines and progress on standard error: make a [Console] by [New], log by [Console.Log], and
// report work by [Console.Progress]. Results don't go through it.
//
// On a terminal, progress is a bar, and log lines push it down. Anywhere else it is a log line every ten seconds.
//
// Log and progress can hold private facts; package report lists them. The number of finished trials shows on a
// terminal. Scores go to the private log, and to standard error at level debug alone.
package ui
