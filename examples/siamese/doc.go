// Command siamese is an example to copy: two images at a time pass through one network. Do they show the same digit?
package main
