package features

import "testing"

// Version is the version that tests check the network against.
const Version = version

// InPiecesOf changes the size of pieces for one test.
func InPiecesOf(t *testing.T, images int) {
	before := atOnce
	atOnce = images
	t.Cleanup(func() { atOnce = before })
}

// HashOf hashes values as keys do.
func HashOf(values []float32) [32]byte {
	h := newHasher()
	h.floats(values)
	return h.sum()
}
