// Package datasets loads the data sets that dptrain trains on and checks them before anything is
// trained.
//
// [Open] returns a [Set] by name: a training and a test [Split] of float32 samples, row-major, with
// one class number each. The names are listed in a table in registry.go, which is the place to add
// one; nothing registers itself.
//
// A set is either made at run time (glyphs, the default, which needs no download) or read from
// files. Each file of a known set has a fixed SHA-256 and is looked for in $DPTRAIN_DATA/<set>, then
// in the user's cache, and is otherwise downloaded into that cache. [List], [Fetch] and [Verify]
// are the same steps taken singly. Files of no known set, in the format of MNIST, are read by
// [LoadIDX].
//
// # Normalisation
//
// Raw values are bytes. A sample holds
//
//	x = (raw/255 - Mean[c]) / Std[c]
//
// for channel c, the first axis of a sample. Mean and Std are public constants, written in the code
// and not computed from the data that is loaded: a mean over private samples would be an unaccounted
// query. For MNIST they are the ones of the Opacus examples, which the paper's experiments use.
//
// # What is checked
//
// [Set.Check] refuses what would otherwise surface as a strange training run: values that are not
// finite, labels out of range, counts that disagree, a test set of another shape than the training
// set. Every such error, a wrong checksum included, matches [ErrInvalid].
package datasets
