// Package datasets loads data sets for training. [Open] returns the [Set] with a name. It has a training and a test
// [Split]. A split holds samples, row-major, as float32 or, for texts, as tokens, and one class index for each sample.
//
// A set is either made at run time (glyphs, the default, which needs no download) or read from files. Each file of a
// set has a known SHA-256. Open looks for it in $DPTRAIN_DATA/<set>, then in the user's cache, and otherwise downloads
// it into that cache. In $DPTRAIN_DATA a folder with the unpacked files may replace an archive. The set's Edition
// is "ok" if its files have the published checksums, "unofficial" if they differ, and "unverified" if none are known.
//
// # Texts
//
// A text becomes a row of Options.TextLength WordPiece tokens and a row of weights, 1/k for each of its k real tokens.
// Reviews are sorted by class, then by file name, so archive and folder give the same order. Bytes that aren't UTF-8
// are dropped. An empty review becomes the two tokens [CLS] and [SEP].
//
// # Normalisation
//
// Raw values are bytes. A sample's value is
//
//	x = (raw/255 - Mean[c]) / Std[c]
//
// for channel c, the first axis of a sample. Mean and Std are public constants in the code. They aren't computed from
// the loaded data, since a mean over private samples would be a query without accounting. MNIST has the constants of
// the Opacus examples, which the paper's experiments use.
package datasets
