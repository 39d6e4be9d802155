// Package examples holds programs to copy: each trains or tunes a model of its own, in fewer than sixty lines. Their
// data are made up, in a file beside each.
//
//	go run ./examples/regression   a graph of one's own, AdamW, a schedule, an average of models
//	go run ./examples/attention    a transformer block over token ids
//	go run ./examples/gru          a recurrent network over sequences
//	go run ./examples/tuning       private tuning by a measure of one's own
package examples
