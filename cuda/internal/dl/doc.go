// Package dl opens shared libraries and finds what is in them, on the systems where that can be done at run time: those
// of the NVIDIA driver and of the emulated device.
package dl
