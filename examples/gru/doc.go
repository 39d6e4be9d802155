// Command gru is an example to copy: a recurrent network over sequences: which of two waves is it, after eight noisy
// steps?
package main
