package datasets

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"unicode"

	"github.com/google/renameio/v2/maybe"

	"github.com/dptrain/dptrain/internal/safetensors"
)

// tokenKind begins the kind of a file of tokens. Its number changes whenever texts get other tokens.
const tokenKind = "dptrain tokens 2"

// tokenSizes are the sizes of a file of tokens.
type tokenSizes struct {
	vocabulary int
	length     int // of a text
	train      int // texts
	test       int
}

// tokenCache is a file in the user's cache with a set's texts as tokens: tensors of the labels, of the number of each
// text's real tokens, and of these tokens, training texts first. A file that can't be read or written, is damaged, or
// was made from other data, counts as none: making it takes seconds.
type tokenCache struct {
	path  string            // "" without a cache
	key   [sha256.Size]byte // a hash of the texts, the vocabulary and the version of Unicode
	sizes tokenSizes
}

// kind names the file's content for its checksum.
func (c tokenCache) kind() string { return fmt.Sprintf("%s %x %v", tokenKind, c.key, c.sizes) }

// tokenCache returns the cache for texts, which data identifies, and a vocabulary.
func (s *store) tokenCache(sizes tokenSizes, data, vocabulary []byte) tokenCache {
	h := sha256.New()
	for _, part := range [][]byte{data, vocabulary, []byte(unicode.Version)} {
		binary.Write(h, binary.LittleEndian, uint64(len(part)))
		h.Write(part)
	}
	c := tokenCache{key: [sha256.Size]byte(h.Sum(nil)), sizes: sizes}
	if folder, err := s.cacheFolder(); err == nil {
		c.path = filepath.Join(folder, fmt.Sprintf("tokens-%d.bin", sizes.length))
	}
	return c
}

// read returns the set, without a name, or nil if there is none in the cache.
func (c tokenCache) read() *Set {
	contents, err := os.ReadFile(c.path)
	if err != nil {
		return nil
	}
	set, err := c.decode(contents)
	if err != nil {
		return nil
	}
	return set
}

// write writes the set to the cache, if that is possible.
func (c tokenCache) write(set *Set) {
	contents, err := c.encode(set)
	if err == nil && c.path != "" && os.MkdirAll(filepath.Dir(c.path), 0o755) == nil {
		maybe.WriteFile(c.path, contents, 0o600) // atomic on systems whose renaming is
	}
}

func (c tokenCache) encode(set *Set) ([]byte, error) {
	var labels, counts, tokens []float32 // which hold whole numbers below 2^24 exactly
	for _, s := range []*Split{&set.Train, &set.Test} {
		for i := range s.N {
			labels, counts = append(labels, float32(s.Labels[i])), append(counts, float32(s.used(i)))
			for _, token := range s.Tokens[i*s.SampleSize():][:s.used(i)] {
				tokens = append(tokens, float32(token))
			}
		}
	}
	return safetensors.Seal(c.kind(), struct{}{}, []safetensors.Tensor{
		{Name: "labels", Shape: []int{len(labels)}, Data: labels},
		{Name: "counts", Shape: []int{len(counts)}, Data: counts},
		{Name: "tokens", Shape: []int{len(tokens)}, Data: tokens},
	})
}

// used returns the number of real tokens of text i.
func (s *Split) used(i int) int {
	weights := s.Weights[i*s.SampleSize():][:s.SampleSize()]
	if n := slices.Index(weights, 0); n >= 0 {
		return n
	}
	return len(weights)
}

// decode decodes a file that encode encoded. It checks all of it, so that the set passes [Set.Check].
func (c tokenCache) decode(file []byte) (*Set, error) {
	tensors, err := safetensors.Unseal(c.kind(), file, &struct{}{})
	if err != nil {
		return nil, invalidf("tokens of these texts: %v", err)
	}
	texts := c.sizes.train + c.sizes.test
	if len(tensors) != 3 || len(tensors[0].Data) != texts || len(tensors[1].Data) != texts {
		return nil, invalidf("%d tensors of tokens, or not for %d texts", len(tensors), texts)
	}
	labels, counts, tokens := tensors[0].Data, tensors[1].Data, tensors[2].Data
	set := &Set{}
	for _, part := range []struct {
		split *Split
		n     int
	}{{&set.Train, c.sizes.train}, {&set.Test, c.sizes.test}} {
		s := part.split
		*s = Split{N: part.n, SampleShape: []int{c.sizes.length}, Vocabulary: c.sizes.vocabulary, Classes: 2}
		s.Tokens = makeLarge[int32](s.N * c.sizes.length)
		used := make([]int32, s.N)
		for i := range s.N {
			s.Labels = append(s.Labels, int32(labels[i]))
			n := int(counts[i])
			if n < 0 || n > c.sizes.length || n > len(tokens) {
				return nil, invalidf("text %d has %d tokens", i, n)
			}
			row := s.Tokens[i*c.sizes.length:]
			for j, token := range tokens[:n] {
				row[j] = int32(token)
			}
			used[i], tokens = int32(n), tokens[n:]
		}
		labels, counts = labels[s.N:], counts[s.N:]
		s.setWeights(used)
	}
	if len(tokens) > 0 {
		return nil, invalidf("%d tokens too many", len(tokens))
	}
	return set, set.Check()
}
