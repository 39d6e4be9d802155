// Package experiment carries out experiments, from settings to a released model: call [Resolve], which makes a [Plan]
// of settings, [Plan.Load], which reads its data, [Plan.Run], which tunes or trains, and [Plan.Write], which fills the
// run's directory. [Open] makes a released model ready for predictions.
//
// A plan is public. [Plan.Statement] is its guarantee, [Plan.Warnings] lists its faults, and both are settled before
// the first private value is read: Resolve counts the rows of a private file and reads nothing else of it. What a
// [Follower] sees while a plan is loaded and run is private, and so is [Outcome.Private].
//
// Resolve opens each of a person's own files once. It infers the schema from the public file and reads all rows of it;
// the private file stays open until Load has read it. So a file that is replaced after that isn't trained on, and one
// that is changed is an error.
//
// The package names no engine: callers hand engines over. Its errors have types, of which [Error] is one; exit codes,
// tables and the console are the command's.
package experiment
