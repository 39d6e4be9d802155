// Package datasets finds, downloads, verifies and reads the files of data sets. The library's package of this name is
// its door for programs, and documents sets, splits and options. Beside [Open], this package has what command data and
// features need: [List] only looks for files, [Fetch] downloads them, and [Verify] checks them. [OpenRaw] returns
// images as bytes, which a program can normalise block by block, and [Weights] returns the weights of trained networks,
// which compute features of some sets' images.
//
// The table in registry.go lists all sets. Add a set there; nothing registers itself.
//
// An archive is read as a stream, never unpacked to disk, and only if it has the published checksum. Some authors
// publish only an MD5, which detects damage but no forgery. In $DPTRAIN_DATA a folder with the unpacked files may
// replace an archive. The files in such a folder must have the right format. If they also have the published checksums,
// the set's Edition is [OK]; if they differ, it is [Unofficial]; if no checksums of the files are published, it is
// [Unverified]. List and Verify report the same.
package datasets
