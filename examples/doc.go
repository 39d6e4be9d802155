// Package examples holds programs to copy: each trains or tunes a model of its own, in fewer than sixty lines. Two make
// up their data:
//
//	go run ./examples/regression   a graph of one's own, AdamW, a schedule, an average of models
//	go run ./examples/tuning       private tuning by a measure of one's own
//
// The others download data sets, or find them in $DPTRAIN_DATA, and take minutes:
//
//	go run ./examples/gan          a critic and a generator of small digits, moved by one rule
//	go run ./examples/language     a language model whose table of words is also its last layer
//	go run ./examples/lowrank      updates of low rank of frozen public weights
//	go run ./examples/lstm         a recurrent network over padded texts
//	go run ./examples/siamese      pairs of images through one network
package examples
