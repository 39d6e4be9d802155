// Package features computes features of images by a trained network and caches them. Call [New] with a network's
// weights, then [Extractor.Of]. A linear model is then trained privately on the features. In this way the paper trains
// on CIFAR-10: features come from a ResNet-20 that was trained on CIFAR-100, and the linear model has 650 parameters.
//
// # Privacy
//
// A feature vector is a function of one image and of the network's weights, which are public and were trained on public
// data. Nothing is fitted to the images, no mean is taken over them, and no image changes the features of another. So
// two sets of images that differ by one sample have features that differ by one sample, and a mechanism that is private
// for features is private for images, with the same epsilon and delta. This holds only if the weights don't depend on
// the private images.
//
// Features carry no noise: they are as private as the images, and so is the cache. Only its owner can read its files.
//
// # The cache
//
// The features of 60,000 images take half a minute on two cores, so a sealed safetensors file in the user's cache
// folder keeps them: one for each set of images. Its name is a hash of all that features depend on: the images, the
// weights, the version of this code, and the engine's arithmetic. Engines agree only within a tolerance, and a
// repeatable run must not depend on the engine that filled the cache. A damaged file is ignored. Files are written
// beside their final name and renamed, so that concurrent processes see whole files.
package features
