// Command augment is an example to copy: each step trains on new views of each image, shifted and mirrored within the
// graph, whose gradients are averaged before they are clipped (De et al., "Unlocking High-Accuracy Differentially
// Private Image Classification through Scale", 2022, Section 3.2).
package main
