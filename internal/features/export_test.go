package features

import (
	"context"
	"testing"
)

// Version is what tests hold against the network.
var Version = version

// Compute is an extraction without a cache.
func Compute(ctx context.Context, x *Extractor, images Images) ([]float32, error) {
	return x.compute(ctx, images, nil)
}

// InBlocksOf changes the size of blocks for one test.
func InBlocksOf(t *testing.T, images int) {
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

// AsVersion makes this code another version for one test.
func AsVersion(t *testing.T, other uint64) {
	before := version
	version = other
	t.Cleanup(func() { version = before })
}
