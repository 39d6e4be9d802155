//go:build !race

package long

// Race reports whether the race detector watches.
const Race = false
