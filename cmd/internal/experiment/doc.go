// Package experiment carries out experiments, from settings to a released model. Call [New] to make a [Plan] from
// settings, [Plan.Settle] to calibrate its noise, [Plan.Load] to read its data, and [Plan.Run] to tune or train. Its
// [Outcome] has all that is released. [Open] opens a released model for predictions.
//
// [RunAll] carries out several plans side by side. [Plan.Again] makes another run of a settled plan, and
// [Plan.LoadFrom] shares the data of plans whose other settings differ.
//
// A plan is public. [Plan.Statement] returns its guarantee and [Plan.Warnings] its weaknesses. Neither depends on a
// private value: New counts the rows of a private file and reads nothing else of it, and Settle reads no data. The
// reports that a [Follower] receives while a plan is loaded and run are private, and so is Outcome.Private.
//
// New opens each of the user's own files once. It infers the schema from the public file and reads all its rows. The
// private file stays open until Load has read it. So if a file is replaced after New opened it, Load reads the
// original; if it is changed, the error says so.
//
// The package imports no engine: callers pass engines to it. Its errors have types, such as [Error], which the command
// turns into exit codes. Tables and the console are part of the command too.
package experiment
