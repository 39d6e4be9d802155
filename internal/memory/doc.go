// Package memory reports how much memory a program can still allocate. Call [Available] before a large allocation: a
// program that needs more can return an error before the system ends it.
package memory
