// Package datasets loads data sets for training. [Open] returns a [Set] by its name: a training and a test [Split] of
// float32 samples, row-major, or of texts as tokens, with one class index for each. [OpenRaw] returns images as
// bytes, for programs that normalise them block by block, and [Weights] returns the weights of trained networks,
// which compute the features of some sets.
//
// A set is either made at run time (glyphs, the default, which needs no download) or read from files. Each file of a
// set has a known SHA-256. It is looked for in $DPTRAIN_DATA/<set>, then in the user's cache, and is otherwise
// downloaded into that cache. [List], [Fetch] and [Verify] take these steps one by one. The table in registry.go
// lists all sets, and is the place to add one; nothing registers itself.
//
// # Archives and editions
//
// An archive is read as a stream and never unpacked to disk, and only if its checksum is the published one: an MD5 if
// its authors publish no other, which detects damage but no forgery. In $DPTRAIN_DATA an archive may also lie
// unpacked. The files in such a folder are checked against the published checksums if those are known, and always
// against their format. Other files in the right format are accepted; the set's Edition, [List] and [Verify] then
// report [Unofficial] if the files are known to differ from the published ones, and [Unverified] if no checksum is
// known.
//
// # Texts
//
// A text becomes a row of WordPiece tokens, as long as Options ask for, and a row of weights, 1/k for each of its k
// real tokens. Reviews are sorted by class, then by file name, whether they come from the archive or the folder.
// Bytes that aren't UTF-8 are dropped, and an empty review is [CLS] and [SEP]. The cache folder keeps the tokens
// under a hash of the texts, the vocabulary and the version of this code; only its owner can read them, as any cache
// of private data.
//
// # Normalisation
//
// Raw values are bytes. A sample's value is
//
//	x = (raw/255 - Mean[c]) / Std[c]
//
// for channel c, the first axis of a sample. Mean and Std are public constants in the code. They aren't computed from
// the loaded data, since a mean over private samples would be a query without accounting. MNIST has those of the
// Opacus examples, which the paper's experiments use.
//
// # Checks
//
// [Set.Check] finds mistakes that would otherwise show as a strange training run: values that aren't finite, labels
// out of range, counts that disagree, a test set of another shape than the training set. All such errors, including a
// wrong checksum, match [ErrInvalid].
package datasets
