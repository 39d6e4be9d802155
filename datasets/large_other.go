//go:build !linux

package datasets

// makeLarge is make, for the values of a whole split.
func makeLarge[T byte | int32 | float32](n int) []T { return make([]T, n) }
