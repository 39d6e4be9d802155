package features

import (
	"context"
	"testing"
)

// Version is what tests hold against the network.
const Version = version

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
