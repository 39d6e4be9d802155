// Package runs is the store of runs. A run is a folder; a store is a folder of runs. [Create] makes the folder of a new
// run, [Resume] takes over the folder of an interrupted one, [Open] reads a folder, and [List] reads a store.
//
//	RUN/run.json           the [Manifest]: the run's description and its outcome; public
//	    released/          all that the guarantee covers; there once the run is finished, and never in part
//	    private/           mode 0700
//	            record.json    the [Record]: times, the program, all that resuming needs
//	            settings.yaml  the settings
//	            log.txt        the log
//	            run.json       trials, scores, learning curves; once the run is finished
//	            end/           the last state of a single training, for a longer one; once it is finished
//	            key            the key of all draws; only while the run can be resumed
//	            state/         states of trials; only while the run can be resumed
//	            lock           locked by the process that carries out the run
//
// # Crashes
//
// A run's folder appears with all that resuming needs. Each file is written whole: under another name, synchronised
// with the disk and renamed, and then its folder is synchronised. released/ is written in the same way. So whenever the
// process or the machine dies, [Resume] finds either the state before a write or the one after it. The run's draws are
// a function of its key, so a run that goes on from an earlier state makes the same draws again.
//
// The key is destroyed at the end: overwritten and removed. With the key, anyone who has the released model can remove
// its noise. Overwriting doesn't reach copies that a file system with snapshots, a backup or a flash disk has made, so
// keep folders of runs on a disk that is encrypted or yours alone.
//
// # Times
//
// A run's duration reveals about how many trials it had, which is private. So the manifest and the released files have
// the day of the beginning as their times, and times of day are in private/.
package runs
