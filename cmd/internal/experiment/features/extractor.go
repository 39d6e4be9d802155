package features

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/networks"
	"github.com/dptrain/dptrain/train"
)

// Size is the number of features of an image.
const Size = networks.Features

// classes is the number of classes that the public weights were trained for. Features don't depend on it.
const classes = 100

// Extractor is the ResNet-20 with trained weights, on an engine. Its methods are not safe for concurrent use.
type Extractor struct {
	predictor *train.Predictor
	weights   [sha256.Size]byte
}

// New loads the network on an engine. If w isn't the network's weights the error is a [*networks.WeightsError].
func New(e engine.Engine, w Weights) (*Extractor, error) {
	network, err := networks.ResNet20(networks.Options{}, classes)
	if err != nil {
		return nil, err
	}
	parameters, err := network.Fold(w)
	if err != nil {
		return nil, err
	}
	predictor, err := train.NewPredictor(e, network.Extractor(), parameters)
	if err != nil {
		return nil, err
	}
	return &Extractor{predictor, w.sum()}, nil
}

// Options configure the cache and the callbacks of an extraction.
type Options struct {
	// Cache is the folder that holds the folder of features. Empty means the folder dptrain in [os.UserCacheDir].
	Cache string
	// Progress, if not nil, is called on the caller's goroutine while features are computed, with the number of images
	// done. It isn't called for cached features.
	Progress func(done, total int)
	// Warn, if not nil, is called if the cache can't be used. The result is the same, but takes longer.
	Warn func(error)
}

// Of returns the features of images, [N, Size], from the cache if it has them; otherwise it computes and caches them.
// If the context is cancelled it returns the context's error and leaves the cache as it was.
func (x *Extractor) Of(ctx context.Context, images Images, o Options) ([]float32, error) {
	if o.Warn == nil {
		o.Warn = func(error) {}
	}
	folder, err := folder(o.Cache)
	if err != nil {
		o.Warn(err)
		return x.Compute(ctx, images, o.Progress)
	}
	file, err := x.entry(ctx, images)
	if err != nil {
		return nil, err
	}
	values, err := file.read(folder)
	switch {
	case err == nil:
		return values, nil
	case !errors.Is(err, errNotThere):
		o.Warn(err)
	}
	if values, err = x.Compute(ctx, images, o.Progress); err != nil {
		return nil, err
	}
	if err := file.write(folder, values); err != nil {
		o.Warn(err)
	}
	return values, nil
}

// Compute returns the features of images, [N, Size], without the cache. It calls progress, if not nil, as
// Options.Progress.
func (x *Extractor) Compute(ctx context.Context, images Images, progress func(done, total int)) ([]float32, error) {
	out := make([]float32, 0, images.N*Size)
	err := images.pieces(func(from, to int, values []float32) error {
		// The network's cost has the labels as an input, on which features don't depend.
		data, err := train.NewData(to-from, values, make([]float32, (to-from)*classes))
		if err != nil {
			return fmt.Errorf("images from number %d on: %w", from, err)
		}
		piece, err := x.predictor.Predict(ctx, data)
		if err != nil {
			return fmt.Errorf("features of images from number %d on: %w", from, err)
		}
		out = append(out, piece...)
		if progress != nil {
			progress(to, images.N)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Close frees the network's memory on the engine.
func (x *Extractor) Close() error { return x.predictor.Close() }
