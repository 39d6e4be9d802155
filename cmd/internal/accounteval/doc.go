/*
Package accounteval answers "dptrain account eval": call [Evaluate] with the name of a function, one of [Functions], and
its parameters as JSON.

The functions are those of the project's reference vectors, accountant/testdata/accounting.json, so that other
accountants can be compared with this one. Functions of guarantees call package accountant. Functions of single Rényi
orders combine the theorems of package renyi in the same way as package accountant; a test checks that both give the
same bits.
*/
package accounteval
