// Package features turns images into features of a trained network, once, and keeps them. What is then trained
// privately is a linear model of them: that is how the paper trains on CIFAR-10, with a ResNet-20 that was trained on
// CIFAR-100 and 650 parameters of its own.
//
// # Privacy
//
// A feature vector is a function of one image and of the network's weights, which are public and were trained on public
// data. Nothing is fitted to the images, no mean is taken over them, and no image sees another. So a set of features
// with one sample more or less is the set of images with one sample more or less, and a mechanism that protects samples
// of the one protects samples of the other, by the same epsilon and delta. That holds only while the weights owe
// nothing to the private images.
//
// Features carry no noise: they are as private as the images, and so is the cache. Its files can be read by their owner
// only.
//
// # The cache
//
// Features of 60,000 images take half a minute on two cores, so they are kept in the user's cache folder, a file for
// each set of images:
//
//	magic      "dptrain features\n"
//	key        32 bytes
//	images     uint64, little-endian; so is all that follows
//	features   uint64, of one image
//	values     that many float32
//	checksum   32 bytes, SHA-256 of all before
//
// The key is a hash of all that features follow from: the images, the weights, the engine's arithmetic, since engines
// agree within a tolerance only and a run that can be repeated must not depend on who filled the cache, and the version
// of this code. The file's name is a hash of the same without the version, so that a later version's file takes an
// earlier one's place. A file that isn't exactly what it should be is as good as none. Files are written beside their
// place and renamed, so that processes side by side see whole ones.
package features
