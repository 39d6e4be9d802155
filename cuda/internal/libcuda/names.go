//go:build !windows

package libcuda

// systemNames are what the driver's library is called.
var systemNames = []string{"libcuda.so.1", "libcuda.so"}
