package datasets

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"unicode"

	"github.com/google/renameio/v2/maybe"
)

// tokenMagic begins a file of tokens. Its number changes with the file's format, and whenever texts get other tokens.
const tokenMagic = "dptrain tokens 1\n"

// tokenSizes are the sizes of a file of tokens.
type tokenSizes struct {
	vocabulary int
	length     int // of a text
	train      int // texts
	test       int
}

// tokenCache is a file in the user's cache with a set's texts as tokens. A file that can't be read or written, is
// damaged, or was made from other data, counts as none: making it takes seconds.
//
//	magic     tokenMagic
//	key       32 bytes, a hash of the texts, the vocabulary, the length and the version of Unicode
//	sizes     4 uint32, little-endian like all others: vocabulary, length, training texts, test texts
//	labels    a byte for each text, training texts first
//	counts    a uint16 for each text, the number of its real tokens
//	tokens    an int32 for each real token
//	checksum  32 bytes, SHA-256 of all of the above
type tokenCache struct {
	path  string // "" without a cache
	key   [sha256.Size]byte
	sizes tokenSizes
}

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

// header returns the bytes before the labels.
func (c tokenCache) header() []byte {
	b := append([]byte(tokenMagic), c.key[:]...)
	for _, size := range []int{c.sizes.vocabulary, c.sizes.length, c.sizes.train, c.sizes.test} {
		b = binary.LittleEndian.AppendUint32(b, uint32(size))
	}
	return b
}

// read returns the set, without a name, or nil if there is none in the cache.
func (c tokenCache) read() *Set {
	file, err := os.Open(c.path)
	if err != nil {
		return nil
	}
	defer file.Close()
	texts := c.sizes.train + c.sizes.test
	most := len(c.header()) + texts*(1+2+4*c.sizes.length) + sha256.Size
	contents, err := io.ReadAll(io.LimitReader(file, int64(most)+1))
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
	if c.path != "" && os.MkdirAll(filepath.Dir(c.path), 0o755) == nil {
		maybe.WriteFile(c.path, c.encode(set), 0o600) // atomic on systems whose renaming is
	}
}

func (c tokenCache) encode(set *Set) []byte {
	splits := []*Split{&set.Train, &set.Test}
	b := c.header()
	for _, s := range splits {
		for _, l := range s.Labels {
			b = append(b, byte(l))
		}
	}
	for _, s := range splits {
		for i := range s.N {
			b = binary.LittleEndian.AppendUint16(b, uint16(s.used(i)))
		}
	}
	for _, s := range splits {
		for i := range s.N {
			for _, token := range s.Tokens[i*s.SampleSize():][:s.used(i)] {
				b = binary.LittleEndian.AppendUint32(b, uint32(token))
			}
		}
	}
	sum := sha256.Sum256(b)
	return append(b, sum[:]...)
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
	header := c.header()
	texts := c.sizes.train + c.sizes.test
	if !bytes.HasPrefix(file, header) {
		return nil, invalidf("not tokens of these texts")
	}
	if len(file) < len(header)+texts*(1+2)+sha256.Size {
		return nil, invalidf("ends after %d bytes", len(file))
	}
	body, checksum := file[:len(file)-sha256.Size], file[len(file)-sha256.Size:]
	if sum := sha256.Sum256(body); !bytes.Equal(sum[:], checksum) {
		return nil, invalidf("the checksum is wrong")
	}
	in := body[len(header):]
	labels, in := in[:texts], in[texts:]
	counts, in := in[:2*texts], in[2*texts:]
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
			n := int(binary.LittleEndian.Uint16(counts[2*i:]))
			if n > c.sizes.length || 4*n > len(in) {
				return nil, invalidf("text %d has %d tokens", i, n)
			}
			row := s.Tokens[i*c.sizes.length:]
			for j := range n {
				row[j] = int32(binary.LittleEndian.Uint32(in[4*j:]))
			}
			used[i], in = int32(n), in[4*n:]
		}
		labels, counts = labels[s.N:], counts[2*s.N:]
		s.setWeights(used)
	}
	if len(in) > 0 {
		return nil, invalidf("%d bytes too many", len(in))
	}
	return set, set.Check()
}
