// Package ui shows log lines and progress on standard error: make a [Console] by [NewOn], log by [Console.Log], and
// report work by [Console.Progress]. Results don't go through it, but [Wrap] and [Columns] lay them out.
//
// A [Screen] describes what standard output or standard error can show. On a terminal, progress is a bar below the log
// lines, shortened to the terminal's width. Anywhere else, and on a terminal that can't overwrite a line, it is a log
// line every ten seconds. Other outputs than terminals, such as a file or a pipe, get lines of any length, so that
// programs can read them. All of it is UTF-8.
//
// Log and progress can contain private facts; package release lists them. [Console.ShowsPrivate] says where.
package ui
