// Package drivertest holds the drivers of GPUs to package driver's interface, on machines without one: [Library] makes
// a driver that computes in the host's memory, and [Test] is what every implementation on top of it passes.
package drivertest
