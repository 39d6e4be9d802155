// Package term is what all commands have in common on a terminal. A [Terminal] has the flags of the root command and
// the outputs: it prints results by [Terminal.Print], log and progress by [Terminal.Console], and errors by
// [Terminal.Fail]. [Await] and [Follow] wait for what takes long, so that an interruption ends the command at once.
// [Input], [Usagef] and [Coded] give errors their exit codes.
//
// Results go to standard output, log and progress to standard error. What of private facts either may have
// is up to [ui.Console.ShowsPrivate].
package term
