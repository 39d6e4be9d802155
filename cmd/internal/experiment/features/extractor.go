package features

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/networks"
	"github.com/dptrain/dptrain/internal/safetensors"
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

// pixels is the number of values of an image: 3 channels of 32×32.
const pixels = 3 * 32 * 32

// atOnce is the number of images in a piece: enough to keep a GPU busy, and few enough to report progress about twice a
// second on two cores. Tests change it too.
var atOnce = 1000

// Images is a set of N images [3, 32, 32], normalised in the same way as the images that the network was trained on.
// They are read in parts, so that not all of them need to be in memory.
type Images struct {
	N int
	// Read writes the images first, first+1, … to dst, as many as fit, one after another. It isn't called for images
	// beyond the last, and must return the same image for the same index each time.
	Read func(dst []float32, first int)
}

// pieces calls f for images from, …, to-1, piece by piece. f may change values, which are valid until it returns.
func (m Images) pieces(f func(from, to int, values []float32) error) error {
	buffer := make([]float32, min(atOnce, m.N)*pixels)
	for from := 0; from < m.N; from += atOnce {
		to := min(from+atOnce, m.N)
		values := buffer[:(to-from)*pixels]
		m.Read(values, from)
		if err := f(from, to, values); err != nil {
			return err
		}
	}
	return nil
}

// Weights is a trained network's tensors by their names in PyTorch's state.
type Weights map[string]networks.Tensor

// WeightsOf returns the weights that tensors have.
func WeightsOf(tensors []safetensors.Tensor) Weights {
	w := Weights{}
	for _, t := range tensors {
		w[t.Name] = networks.Tensor{Shape: t.Shape, Values: t.Data}
	}
	return w
}

// sum hashes the weights, independently of their order.
func (w Weights) sum() [sha256.Size]byte {
	h := newHasher()
	for _, name := range slices.Sorted(maps.Keys(w)) {
		h.text(name)
		h.text(fmt.Sprint(w[name].Shape))
		h.floats(w[name].Values)
	}
	return h.sum()
}
