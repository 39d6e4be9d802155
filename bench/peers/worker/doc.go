// Command worker takes dptrain's private steps for bench/peers/compare.py, by packages that every program can import.
//
//	worker [-workers N] MODEL BATCH FOLDER
//
// FOLDER has the samples and the initial parameters, in the format of bench/peers/networks.py. The worker first writes
// the clipped sum of the gradients of the first BATCH samples, which the caller checks, to FOLDER/sums/dptrain. Then it
// prints "ready", and answers each line "run SECONDS" of its standard input by samples and seconds.
package main
