package features

import "context"

// Version is what tests hold against the network.
const Version = version

// Compute is an extraction without a cache.
func Compute(ctx context.Context, x *Extractor, images Images) ([]float32, error) {
	return x.compute(ctx, images, nil)
}
