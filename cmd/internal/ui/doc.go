// Package ui shows log lines and progress on standard error: make a [Console] by [NewOn], log by [Console.Log], and
// report work by [Console.Progress]. Results don't go through it, but [Wrap] and [Columns] lay them out.
//
// A [Screen] describes what standard output or standard error can show. On a terminal, progress is a bar below the log
// lines, shortened to the terminal's width. Anywhere else, and on a terminal that can't overwrite a line, it is a log
// line every ten seconds. A terminal whose locale isn't UTF-8 gets ASCII from [Screen.Writer]. Other outputs, such as a
// file or a pipe, always get UTF-8 in lines of any length, so that programs can read them.
//
// Log and progress can contain private facts; package release lists them. [Console.ShowsPrivate] says where.
package ui
