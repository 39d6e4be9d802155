// Package drivertest tests implementations of package driver's interface on machines without a GPU: [Library] makes a
// driver that computes in the host's memory, and [Test] tests an implementation on top of it.
package drivertest
