package features

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2/maybe"
)

// version is the version of this code's results. Raise it with every change to the network, its folding or its
// activations. Tests change it too.
var version uint64 = 1

const magic = "dptrain features\n"

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
	name   string
	key    [sha256.Size]byte
	images int
}

func (x *Extractor) entry(ctx context.Context, images Images) (entry, error) {
	h := newHasher()
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
	unversioned := h.sum()
	h = newHasher()
	h.uint64(version)
	h.Write(unversioned[:])
	return entry{name: hex.EncodeToString(unversioned[:]), key: h.sum(), images: images.N}, nil
}

// header returns the file's bytes before the values.
func (e entry) header() []byte {
	out := append([]byte(magic), e.key[:]...)
	out = binary.LittleEndian.AppendUint64(out, uint64(e.images))
	return binary.LittleEndian.AppendUint64(out, Size)
}

// read returns errNotThere unless the file exists and is intact.
func (e entry) read(folder string) ([]float32, error) {
	f, err := os.Open(filepath.Join(folder, e.name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNotThere
	}
	if err != nil {
		return nil, fmt.Errorf("look into the cache of features: %w", err)
	}
	defer f.Close()
	header := e.header()
	// One byte more than wanted shows a file that is too long, however long it is.
	want := len(header) + 4*e.images*Size + sha256.Size
	content, err := io.ReadAll(io.LimitReader(f, int64(want)+1))
	if err != nil {
		return nil, fmt.Errorf("look into the cache of features: %w", err)
	}
	if len(content) != want || !bytes.HasPrefix(content, header) {
		return nil, errNotThere
	}
	content, checksum := content[:want-sha256.Size], content[want-sha256.Size:]
	if sum := sha256.Sum256(content); !bytes.Equal(sum[:], checksum) {
		return nil, errNotThere
	}
	values := make([]float32, e.images*Size)
	for i := range values {
		values[i] = math.Float32frombits(binary.LittleEndian.Uint32(content[len(header)+4*i:]))
	}
	return values, nil
}

// write replaces the file.
func (e entry) write(folder string, values []float32) error {
	content := e.header()
	for _, v := range values {
		content = binary.LittleEndian.AppendUint32(content, math.Float32bits(v))
	}
	sum := sha256.Sum256(content)
	content = append(content, sum[:]...)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("keep the features: %w", err)
	}
	if err := maybe.WriteFile(filepath.Join(folder, e.name), content, 0o600); err != nil {
		return fmt.Errorf("keep the features: %w", err)
	}
	return nil
}
