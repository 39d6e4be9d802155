// Package ledger remembers each release of a data set and states the guarantee of all of them together. [Open] opens
// the ledger of a folder of runs, [Ledger.Record] adds a release before its run trains, and [Ledger.Account] returns
// the releases of a data set with the epsilon of their composition, which is mostly far below the sum of their
// epsilons. [Ledger.SetBudget] sets a standing budget: Record refuses a release that would exceed it.
//
// # What counts as one data set
//
// A data set with a name, such as mnist, is known by the name: all its editions count together. A person's own file is
// known by the sketch of its content ([github.com/dptrain/dptrain/internal/sketch]). Two files of which one has more
// than about 5 % of the smaller one's rows count as one data set. So do files that a chain of such files connects: a
// row could be in all of them, and then it is in all releases. Files with fewer common rows are accounted for
// separately, so a row that two of them share bears the cost of both files' releases.
//
// # What the numbers mean
//
// Releases compose: if adding or removing one row changes each data set by at most that row, the released folders
// together have the guarantee of the composed events. The composition takes the settings of the releases as fixed in
// advance. It doesn't cover a person who chooses the noise or the budget of a release by what an earlier release
// revealed about the private rows. So the numbers are for settings chosen for public reasons.
//
// A release without any guarantee, because its seed is known or it has no noise, composes with nothing. Such releases
// are listed and counted separately: no epsilon covers them.
//
// # Privacy
//
// A ledger is private: it holds hashes of rows, and which releases exist can depend on private rows. Its file has mode
// 0600. There is no way to remove a release, since a release can't be taken back: a run that was interrupted or
// diverged counts like any other.
//
// # Durability
//
// The ledger is one file. A writer locks a file beside it, writes a new file, syncs it, renames it over the old one and
// syncs the folder. So a crash leaves the old file or the new one, readers need no lock, and two processes don't lose
// each other's records. A file that is damaged, or that a newer version wrote, is an error, and is never written over.
package ledger
