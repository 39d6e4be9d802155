// Package campaign carries out the many runs that a figure of the paper is made of. A [Cell] is a point of a figure: a
// method at one epsilon on one data set. A [Task] is one repetition of it, and becomes one run in the campaign's store.
//
// [Open] opens the folder of a campaign and locks it. [Store.Work] carries out tasks: it reads what the store has,
// goes on with runs that were cut off, and trains the rest, or has a [Fleet] of other machines train. [Store.Status]
// counts.
//
// The runs are those of "dptrain tune" and "dptrain train", in folders that package runs describes. A run counts for a
// task if its folder has the task's name and its settings are those that the task demands, whichever version of the
// program made it; results say which did.
//
// # Privacy
//
// Each repetition has a key of its own from the operating system, so each run's guarantee holds for itself, and the
// store's ledger records all of them: together they cost far more. What a campaign shows beyond the released files,
// the time that training took, is private, as any run's times are. The paper's data sets are public, which is why
// their figures may be shown; don't show those of private data.
//
// The machines of a fleet get keys and train on the data, so they must be trusted like the one with the store. What one
// delivers is filed only if its privacy.json has the guarantee that the run's manifest has. Nothing shows whether
// parameters were trained as the plan says.
package campaign
