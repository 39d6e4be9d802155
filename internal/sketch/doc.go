// Package sketch recognises a set of rows by its content. A [Builder] takes one hash of each row, and keeps the
// smallest hashes: a random sample of the different rows that is the same in every file with these rows. Two sketches
// show by [Sketch.Share] how many rows two sets have in common, without the rows.
//
// A sketch is private. Its hashes have no key, so a person who guesses a row can check the guess. Keep it in files that
// only the owner of the data can read.
package sketch
