// Package arena lays out an engine's memory: [Of] assigns an offset to every value of a program. Values whose lifetimes
// don't overlap share memory, and an elementwise instruction reuses the buffer of its first operand if no later
// instruction reads the operand. A layout is for one sample; engines repeat it for each sample of a microbatch.
package arena
