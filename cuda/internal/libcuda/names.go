//go:build !windows

package libcuda

// systemNames are the names of the driver's library.
var systemNames = []string{"libcuda.so.1", "libcuda.so"}
