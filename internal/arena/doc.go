// Package arena plans an engine's memory: where the values of a program lie. Values whose lives don't overlap share
// space, and an elementwise instruction writes over its first operand where nobody reads that again. What a sample
// needs is laid out once; engines repeat it for as many samples as they take through a program together.
package arena
