// Package features computes features of images by a trained network, once, and caches them. Call [New] with a network's
// weights, then [Extractor.Of]. A linear model of the features is then trained privately: so the paper trains on
// CIFAR-10, with a ResNet-20 that was trained on CIFAR-100 and 650 parameters of its own.
//
// # Privacy
//
// A feature vector is a function of one image and of the network's weights, which are public and were trained on public
// data. Nothing is fitted to the images, no mean is taken over them, and no image sees another. So images that differ
// by one sample have features that differ by one sample, and a mechanism that protects samples of features protects
// samples of images, by the same epsilon and delta. That holds only while the weights owe nothing to the private
// images.
//
// Features carry no noise: they are as private as the images, and so is the cache. Only its owner can read its files.
//
// # The cache
//
// Features of 60,000 images take half a minute on two cores, so they are kept in the user's cache folder, a file for
// each set of images:
//
//	magic      "dptrain features\n"
//	key        32 bytes
//	images     uint64, little-endian like all numbers below
//	features   uint64, of one image
//	values     images·features float32
//	checksum   32 bytes, SHA-256 of all before
//
// The key is a hash of all that features depend on: the images, the weights, the version of this code, and the engine's
// arithmetic, since engines agree within a tolerance only and a repeatable run must not depend on the engine that
// filled the cache. The file's name is a hash of the same without the version, so that a later version's file replaces
// an earlier one's. A damaged file counts as missing. Files are written beside their final name and renamed, so that
// concurrent processes see whole files.
package features
