// Command language is an example to copy: a causal language model of film reviews, whose table of words is also its
// last layer.
package main
