// Package campaign carries out the many runs that a figure of the paper is made of. A [Cell] is a point of a figure: a
// method at one epsilon on one data set. A [Job] is one repetition of it, and becomes one run in the campaign's store.
//
// [Open] opens the folder of a campaign and locks it. [Store.Scan] reads the runs that it has. [Store.Work] goes on
// with runs that were cut off, and trains the missing ones, or has [Workers] on other machines train them.
// [Store.Status] counts runs.
//
// Runs are as "dptrain tune" and "dptrain train" make them, in folders that package runs describes. A run counts for a
// job if its folder has the job's name and its settings are the job's, whichever version of the program made it.
// Results name the version.
//
// # Privacy
//
// Each repetition has a key of its own from the operating system, so each run's guarantee holds by itself. The store's
// ledger records all of them: together they cost far more. A campaign also shows training times, which are private in
// any run. Its figures may be shown because the paper's data sets are public; don't show figures of private data.
//
// Workers get keys and train on the data, so they must be trusted like the machine with the store. A worker's result is
// filed only if its privacy.json has the guarantee of the run's manifest. Nothing shows whether the parameters were
// trained as the plan says.
package campaign
