package features

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/dptrain/dptrain/models"
	"github.com/dptrain/dptrain/train"
	"github.com/dptrain/dptrain/train/compile"
	"github.com/dptrain/dptrain/train/engine"
)

// Size is the number of features of an image.
const Size = models.Features

// pixels is the number of values of an image, 3 channels of 32 rows of 32.
const pixels = 3 * 32 * 32

// classes is what the public weights were trained to tell apart. Features don't depend on it.
const classes = 100

// atOnce is the number of images that an engine gets together: enough to keep a GPU busy, and few enough to report
// progress about once a second on two cores.
const atOnce = 1000

// Extractor is the ResNet-20 with trained weights, on an engine. Its methods are not safe for concurrent use.
type Extractor struct {
	predictor *train.Predictor
	weights   [sha256.Size]byte
}

// New loads the network on an engine. Of tensors that aren't its weights the error is a [*models.WeightsError].
func New(e engine.Engine, w Weights) (*Extractor, error) {
	network, err := models.ResNet20(models.Options{}, classes)
	if err != nil {
		return nil, err
	}
	parameters, err := network.Fold(w)
	if err != nil {
		return nil, err
	}
	predictor, err := train.NewPredictor(e, compile.Source(network.Extractor()), parameters)
	if err != nil {
		return nil, err
	}
	return &Extractor{predictor, w.sum()}, nil
}

// Options say where features are kept, and who is told what.
type Options struct {
	// Cache is the folder that holds the folder of features. Empty means the folder dptrain in [os.UserCacheDir].
	Cache string
	// Progress, if not nil, is called while features are computed, on the caller's goroutine, with the number of images
	// that are done. It isn't called for features that were kept.
	Progress func(done, total int)
	// Warn, if not nil, is told that the cache can't be used. That costs time and nothing else.
	Warn func(error)
}

// Of returns the features of images [N, 3, 32, 32], normalised as the network's training images were: [N, Size]. They
// come from the cache if they are there and go there if they aren't. On a cancelled context the error is the context's,
// and the cache is as it was.
func (x *Extractor) Of(ctx context.Context, images []float32, o Options) ([]float32, error) {
	if len(images)%pixels != 0 {
		return nil, fmt.Errorf("features: %d values don't divide into images of %d", len(images), pixels)
	}
	if o.Warn == nil {
		o.Warn = func(error) {}
	}
	file := x.entry(images)
	folder, err := folder(o.Cache)
	if err != nil {
		o.Warn(err)
		return x.compute(ctx, images, o.Progress)
	}
	values, err := file.read(folder)
	switch {
	case err == nil:
		return values, nil
	case !errors.Is(err, errNotThere):
		o.Warn(err)
	}
	if values, err = x.compute(ctx, images, o.Progress); err != nil {
		return nil, err
	}
	if err := file.write(folder, values); err != nil {
		o.Warn(err)
	}
	return values, nil
}

// compute takes the images through the network, so many at once that what the engine holds of them stays small.
func (x *Extractor) compute(ctx context.Context, images []float32, progress func(done, total int)) ([]float32, error) {
	total := len(images) / pixels
	out := make([]float32, 0, total*Size)
	for from := 0; from < total; from += atOnce {
		to := min(from+atOnce, total)
		// The labels, which features don't depend on, are an input of the network's cost.
		data, err := train.NewData(to-from, images[from*pixels:to*pixels], make([]float32, (to-from)*classes))
		if err != nil {
			return nil, fmt.Errorf("features of images %d to %d: %w", from, to-1, err)
		}
		values, err := x.predictor.Predict(ctx, data)
		if err != nil {
			return nil, fmt.Errorf("features of images %d to %d: %w", from, to-1, err)
		}
		out = append(out, values...)
		if progress != nil {
			progress(to, total)
		}
	}
	return out, nil
}

// Fallback tells why engines were passed over for the one that computes: see [train.Loaded.Fallback].
func (x *Extractor) Fallback() error { return x.predictor.Fallback() }

// Close gives back what the engine holds.
func (x *Extractor) Close() error { return x.predictor.Close() }
