package features

import (
	"context"
	"testing"
)

// Version is the version that tests check the network against.
const Version = version

// Compute extracts features without a cache.
func Compute(ctx context.Context, x *Extractor, images Images) ([]float32, error) {
	return x.compute(ctx, images, nil)
}

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
