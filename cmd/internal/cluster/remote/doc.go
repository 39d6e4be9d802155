// Package remote carries out runs for another machine. An [Order] says what to train: a run's settings and its key.
// [Machine.CarryOut] trains it, without a folder, and returns a [Delivery]: the files that the run releases, and what
// its folder keeps in private. The other machine, which keeps the folders and the ledger, files it.
//
// The package moves no bytes. Order and Delivery have encodings for whatever does, whose decoders take nothing that
// their encoders don't write.
//
// # Privacy
//
// With an order's key and the released model, the noise can be removed: the key is as private as the data, and no
// encoding of an order has it. A delivery is private too, but for its released files.
package remote
