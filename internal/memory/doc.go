// Package memory reports how much memory a program can still take, so that a program that needs more can say so in an
// error before the system ends it.
package memory
