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

// The names of MNIST's four files, without the suffix .gz.
const (
	trainImages = "train-images-idx3-ubyte"
	trainLabels = "train-labels-idx1-ubyte"
	testImages  = "t10k-images-idx3-ubyte"
	testLabels  = "t10k-labels-idx1-ubyte"
)

// idxSet is a data set of grey images in MNIST's file format.
type idxSet struct {
	name      string
	classes   int
	mean, std float64 // of the normalisation; public constants, not statistics of private images
}

func (d idxSet) normalisation() Normalisation {
	return Normalisation{Mean: []float64{d.mean}, Std: []float64{d.std}}
}

// images reads the four files from the store, which verifies them. An error about a wrong file names it and matches
// [ErrInvalid].
func (d idxSet) images(ctx context.Context, s *store) (*RawSet, error) {
	train, test, err := readSplits(ctx, s, d, io.ReadFull)
	if err != nil {
		return nil, err
	}
	raw := func(s *idxSplit[byte]) Images {
		return Images{N: s.images.dims[0], Shape: s.shape(), Classes: d.classes, Pixels: s.images.data, Labels: s.labels}
	}
	return &RawSet{
		Name: d.name, Train: raw(train), Test: raw(test), Normalisation: d.normalisation(), Edition: OK,
	}, nil
}

// load is like images, but normalises each part of a file as soon as it is unpacked, without memory for the raw images.
func (d idxSet) load(ctx context.Context, s *store) (*Set, error) {
	train, test, err := readSplits(ctx, s, d, d.normalisation().readFull)
	if err != nil {
		return nil, err
	}
	normalised := func(s *idxSplit[float32]) Split {
		return Split{
			N: s.images.dims[0], SampleShape: s.shape(), Classes: d.classes,
			Samples: s.images.data, Labels: integers(s.labels),
		}
	}
	return &Set{
		Name: d.name, Train: normalised(train), Test: normalised(test), Normalisation: d.normalisation(), Edition: OK,
	}, nil
}

// idxSplit is a split, with pixels as bytes or normalised.
type idxSplit[T byte | float32] struct {
	images *idxArray[T]
	labels []byte
}

func (s *idxSplit[T]) shape() []int { return []int{1, s.images.dims[1], s.images.dims[2]} }

// A valueReader reads one byte for each value of a slice until the slice is full, like [io.ReadFull]. It returns the
// number of values read, and an error if the input ends before.
type valueReader[T byte | float32] func(in io.Reader, values []T) (int, error)

// readSplits reads both splits of d.
func readSplits[T byte | float32](ctx context.Context, s *store, d idxSet, read valueReader[T]) (train, test *idxSplit[T], err error) {
	if train, err = readSplit(ctx, s, d, trainImages, trainLabels, read); err != nil {
		return nil, nil, err
	}
	test, err = readSplit(ctx, s, d, testImages, testLabels, read)
	return train, test, err
}

// readSplit reads images and their labels, which must be as many.
func readSplit[T byte | float32](
	ctx context.Context, s *store, d idxSet, imagesName, labelsName string, read valueReader[T],
) (*idxSplit[T], error) {
	imagesPath, images, err := readIDX(ctx, s, imagesName, 3, read)
	if err != nil {
		return nil, err
	}
	labelsPath, labels, err := readIDX(ctx, s, labelsName, 1, io.ReadFull)
	if err != nil {
		return nil, err
	}
	if images.dims[0] != labels.dims[0] {
		return nil, invalidf("%s has %d labels for the %d images of %s",
			labelsPath, labels.dims[0], images.dims[0], imagesPath)
	}
	if err := checkLabels(labels.data, d.classes); err != nil {
		return nil, fmt.Errorf("%s: %w", labelsPath, err)
	}
	return &idxSplit[T]{images, labels.data}, nil
}

func readIDX[T byte | float32](
	ctx context.Context, s *store, name string, axes int, read valueReader[T],
) (path string, a *idxArray[T], err error) {
	path, contents, err := s.read(ctx, name)
	if err != nil {
		return path, nil, err
	}
	a, err = parseIDX(contents, read)
	if err != nil {
		return path, nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(a.dims) != axes {
		return path, nil, invalidf("%s: %d axes, want %d", path, len(a.dims), axes)
	}
	return path, a, nil
}

// idxArray is an array of the given shape, row-major.
type idxArray[T byte | float32] struct {
	dims []int
	data []T
}

// maxIDX bounds the bytes of an array, so that a wrong header isn't mistaken for a large data set.
const maxIDX = 1 << 31

// mostExpanded bounds the bytes that a compressed byte can become (zlib's "Technical details": 1032 to 1).
const mostExpanded = 1032

var gzipMagic = []byte{0x1f, 0x8b}

// parseIDX reads an idx file of unsigned bytes, which may be compressed with gzip. The format, from
// the MNIST page of LeCun, Cortes and Burges: two zero bytes, the type (8: unsigned byte), the number
// of axes, the length of each axis as a big-endian 32-bit number, then the values, row-major. Any
// departure is an error that matches [ErrInvalid], as is an array without values. Memory grows with the file, not
// with the header's claim.
func parseIDX[T byte | float32](file []byte, read valueReader[T]) (*idxArray[T], error) {
	var in io.Reader = bytes.NewReader(file)
	if bytes.HasPrefix(file, gzipMagic) {
		unpacked, err := gzip.NewReader(in)
		if err != nil {
			return nil, invalidf("unpack: %v", err)
		}
		in = unpacked
	}

	var magic [4]byte
	if _, err := io.ReadFull(in, magic[:]); err != nil {
		return nil, invalidf("read the idx header: %v", err)
	}
	const unsignedByte = 8
	if magic[0] != 0 || magic[1] != 0 || magic[2] != unsignedByte || magic[3] == 0 {
		return nil, invalidf("not an idx file of unsigned bytes: it begins with %x", magic)
	}
	lengths := make([]uint32, magic[3])
	if err := binary.Read(in, binary.BigEndian, lengths); err != nil {
		return nil, invalidf("read the idx header: %v", err)
	}
	a := &idxArray[T]{}
	size := int64(1)
	for _, n := range lengths {
		if n == 0 {
			return nil, invalidf("no values: the lengths of the axes are %d", lengths)
		}
		size *= int64(n) // below 2^31 · 2^32
		if size >= maxIDX {
			return nil, invalidf("the lengths of the axes, %d, are too large", lengths)
		}
		a.dims = append(a.dims, int(n))
	}

	a.data = makeLarge[T](int(min(size, mostExpanded*int64(len(file)))))
	n, err := read(in, a.data)
	if err == nil && int64(n) < size {
		err = io.EOF
	}
	if err != nil {
		return nil, invalidf("value %d of %d: %v", n, size, describe(err))
	}
	// Reading on to the end also makes gzip compare its checksum.
	switch more, err := io.CopyN(io.Discard, in, 1); {
	case more > 0:
		return nil, invalidf("more than the %d values that the header announces", size)
	case !errors.Is(err, io.EOF):
		return nil, invalidf("after the last value: %v", err)
	}
	return a, nil
}

func describe(err error) string {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "the file ends here"
	}
	return err.Error()
}
