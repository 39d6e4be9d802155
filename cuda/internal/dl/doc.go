// Package dl opens shared libraries at run time and finds symbols in them, on systems where this is possible. The
// NVIDIA driver and the emulated device are such libraries.
package dl
