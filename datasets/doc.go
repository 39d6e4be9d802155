// Package datasets loads the data sets that dptrain trains on and checks them before anything is
// trained.
//
// [Open] returns a [Set] by name: a training and a test [Split] of float32 samples, row-major, or of texts as tokens, with
// one class number each. The names are listed in a table in registry.go, which is the place to add
// one; nothing registers itself. [OpenRaw] returns images as bytes, for programs that normalise them block by
// block, and [Weights] the weights of trained networks, which some sets' features are made with.
//
// A set is either made at run time (glyphs, the default, which needs no download) or read from
// files. Each file of a known set has a fixed SHA-256 and is looked for in $DPTRAIN_DATA/<set>, then
// in the user's cache, and is otherwise downloaded into that cache. [List], [Fetch] and [Verify]
// are the same steps taken singly.
//
// # Archives and editions
//
// Archives are read as a stream, never unpacked to disk, and only when their checksum is the published one (an MD5
// where their authors publish no other, which finds damage but no forgery). In $DPTRAIN_DATA an archive may also lie unpacked. The
// files in such a folder are held to the checksums of the published ones where those are known, and to their format always. Others in the
// right format are accepted, and the set's Edition, [List] and [Verify] say what they are: [Unofficial] if they
// are known to differ, [Unverified] if nobody could tell.
//
// # Texts
//
// A text becomes a row of tokens by package wordpiece, as long as Options say, and a row of weights, 1/k for its k real tokens.
// Reviews are ordered by class, then by file name, whether from the archive or the folder. Bytes that aren't UTF-8
// are dropped, and an empty review is [CLS] and [SEP]. Tokens are kept in the cache folder, readable by their owner alone
// like every cache of what may be private, under a hash of the texts, the vocabulary and the version of this code.
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
