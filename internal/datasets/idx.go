package datasets

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// The names of MNIST's four files in their order, without the suffix .gz.
const (
	trainImages = "train-images-idx3-ubyte"
	trainLabels = "train-labels-idx1-ubyte"
	testImages  = "t10k-images-idx3-ubyte"
	testLabels  = "t10k-labels-idx1-ubyte"
)

// idxImages reads the four files of a set in MNIST's file format from the store, which verifies them.
func idxImages(ctx context.Context, s *store) (*RawSet, error) {
	raw := &RawSet{Edition: OK}
	for part, to := range []*Images{&raw.Train, &raw.Test} {
		lengths, pixels, err := s.readIDX(ctx, s.files[2*part], 3)
		if err != nil {
			return nil, err
		}
		_, labels, err := s.readIDX(ctx, s.files[2*part+1], 1)
		if err != nil {
			return nil, err
		}
		shape := []int{1, lengths[1], lengths[2]}
		*to = Images{N: lengths[0], Shape: shape, Pixels: pixels, Labels: labels}
	}
	return raw, nil
}

func (s *store) readIDX(ctx context.Context, f file, axes int) (lengths []int, values []byte, err error) {
	path, contents, err := s.readFile(ctx, f)
	if err != nil {
		return nil, nil, err
	}
	if lengths, values, err = DecodeIDX(contents, axes); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return lengths, values, nil
}

// maxIDX bounds the bytes of an array, so that a wrong header isn't mistaken for a large data set.
const maxIDX = 1 << 31

var gzipMagic = []byte{0x1f, 0x8b}

// DecodeIDX decodes a file in MNIST's format, packed by gzip or not: an array of bytes of the given number of axes,
// such as 3 for images and 1 for labels. It returns the lengths of the axes, and the bytes, row-major. An error about
// a wrong file matches [ErrInvalid].
//
// The format, from the MNIST page of LeCun, Cortes and Burges: two zero bytes, the type (8: unsigned byte), the number
// of axes, the length of each axis as a big-endian 32-bit number, then the values, row-major. Memory grows with the
// file, not with the header's claim.
func DecodeIDX(file []byte, axes int) (lengths []int, values []byte, err error) {
	var in io.Reader = bytes.NewReader(file)
	if bytes.HasPrefix(file, gzipMagic) {
		if in, err = gzip.NewReader(in); err != nil {
			return nil, nil, invalidf("unpack: %v", err)
		}
	}
	var magic [4]byte
	if _, err := io.ReadFull(in, magic[:]); err != nil {
		return nil, nil, invalidf("read the idx header: %v", err)
	}
	const unsignedByte = 8
	if magic[0] != 0 || magic[1] != 0 || magic[2] != unsignedByte || magic[3] == 0 {
		return nil, nil, invalidf("not an idx file of unsigned bytes: it begins with %x", magic)
	}
	if int(magic[3]) != axes {
		return nil, nil, invalidf("%d axes, want %d", magic[3], axes)
	}
	size := int64(1)
	for range axes {
		var n uint32
		if err := binary.Read(in, binary.BigEndian, &n); err != nil {
			return nil, nil, invalidf("read the idx header: %v", err)
		}
		lengths = append(lengths, int(n))
		if size *= int64(n); size <= 0 || size >= maxIDX { // a product is below 2^31 · 2^32
			return nil, nil, invalidf("an array of the lengths %d has no values, or too many", lengths)
		}
	}
	// Reading on to the end also makes gzip compare its checksum.
	if values, err = io.ReadAll(io.LimitReader(in, size+1)); err != nil {
		return nil, nil, invalidf("value %d of %d: %s", len(values), size, describe(err))
	}
	switch n := int64(len(values)); {
	case n < size:
		return nil, nil, invalidf("value %d of %d: the file ends here", n, size)
	case n > size:
		return nil, nil, invalidf("more than the %d values that the header announces", size)
	}
	return lengths, values, nil
}

func describe(err error) string {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "the file ends here"
	}
	return err.Error()
}
