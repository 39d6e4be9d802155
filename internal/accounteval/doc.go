/*
Package accounteval answers "dptrain account eval": call [Evaluate] with the name of a function, one of [Functions], and
its parameters as JSON.

The functions are those of the project's reference vectors for an accountant, accountant/testdata/accounting.json, by
which other implementations can be compared. Functions of guarantees ask package accountant; functions of single Rényi
orders put the theorems of package renyi together as package accountant does, which a test compares to the last bit.
*/
package accounteval
