package features

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2/maybe"

	"github.com/dptrain/dptrain/internal/safetensors"
)

// version is the version of this code's results. Raise it with every change to the network, its folding or its
// activations.
const version = 1

// errNotThere reports features that the cache doesn't hold.
var errNotThere = errors.New("no such features are kept")

// folder returns the folder of the cached features.
func folder(cache string) (string, error) {
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("find the cache folder: %w", err)
		}
		cache = filepath.Join(user, "dptrain")
	}
	return filepath.Join(cache, "features"), nil
}

// entry identifies one set's features in the cache.
type entry struct {
	name   string // a hash of all that they depend on
	images int
}

func (x *Extractor) entry(ctx context.Context, images Images) (entry, error) {
	h := newHasher()
	h.uint64(version)
	h.text(x.predictor.Arithmetic())
	h.Write(x.weights[:])
	h.uint64(uint64(images.N))
	err := images.pieces(func(_, _ int, values []float32) error {
		h.floats(values)
		return ctx.Err()
	})
	if err != nil {
		return entry{}, fmt.Errorf("look for features: %w", err)
	}
	return entry{name: fmt.Sprintf("%x", h.sum()), images: images.N}, nil
}

// kind names the entry for the file's checksum.
func (e entry) kind() string { return "dptrain features " + e.name }

// read returns errNotThere unless the file exists and is intact.
func (e entry) read(folder string) ([]float32, error) {
	content, err := os.ReadFile(filepath.Join(folder, e.name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNotThere
	}
	if err != nil {
		return nil, fmt.Errorf("look into the cache of features: %w", err)
	}
	tensors, err := safetensors.Unseal(e.kind(), content, &struct{}{})
	if err != nil || len(tensors) != 1 || len(tensors[0].Data) != e.images*Size {
		return nil, errNotThere
	}
	return tensors[0].Data, nil
}

// write replaces the file.
func (e entry) write(folder string, values []float32) error {
	content, err := safetensors.Seal(e.kind(), struct{}{}, []safetensors.Tensor{{Name: "features", Shape: []int{e.images, Size}, Data: values}})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("keep the features: %w", err)
	}
	if err := maybe.WriteFile(filepath.Join(folder, e.name), content, 0o600); err != nil {
		return fmt.Errorf("keep the features: %w", err)
	}
	return nil
}

// hasher hashes lists of values, so that different lists never hash the same bytes.
type hasher struct{ hash.Hash }

func newHasher() hasher { return hasher{sha256.New()} }

func (h hasher) sum() [sha256.Size]byte { return [sha256.Size]byte(h.Sum(nil)) }

func (h hasher) uint64(v uint64) { h.Write(binary.LittleEndian.AppendUint64(nil, v)) }

func (h hasher) text(s string) {
	h.uint64(uint64(len(s)))
	h.Write([]byte(s))
}

func (h hasher) floats(values []float32) {
	h.uint64(uint64(len(values)))
	_ = binary.Write(h, binary.LittleEndian, values) // a hash takes everything
}
