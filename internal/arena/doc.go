// Package arena lays out an engine's memory: [Of] assigns an offset to every value of a program. Values whose lifetimes
// don't overlap share memory, and an elementwise instruction reuses the buffer of its first operand if no later
// instruction reads that. A layout is for one sample; engines repeat it for as many samples as they take through a
// program together.
package arena
