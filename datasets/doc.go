// Package datasets loads data sets for training. [Open] returns the [Set] with a name. It has a training and a test
// [Split]. A split holds samples, row-major, as float32 or, for texts, as tokens, and one class index for each sample.
// [OpenRaw] returns images as bytes, for programs that normalise them block by block, and [Weights] returns the weights
// of trained networks, which compute features of some sets' images.
//
// A set is either made at run time (glyphs, the default, which needs no download) or read from files. Each file of a
// set has a known SHA-256. Open looks for it in $DPTRAIN_DATA/<set>, then in the user's cache, and otherwise downloads
// it into that cache. [List] only looks for files, [Fetch] downloads them, and [Verify] checks them. The table in
// registry.go lists all sets. Add a set there; nothing registers itself.
//
// # Archives and editions
//
// An archive is read as a stream, never unpacked to disk, and only if it has the published checksum. Some authors
// publish only an MD5, which detects damage but no forgery. In $DPTRAIN_DATA a folder with the unpacked files may
// replace an archive. The files in such a folder must have the right format. If they also have the published checksums,
// the set's Edition is [OK]; if they differ, it is [Unofficial]; if no checksums of the files are published, it is
// [Unverified]. List and Verify report the same.
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
