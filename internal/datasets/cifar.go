package datasets

import (
	"bufio"
	"context"
	"errors"
	"io"
	"slices"
)

// CIFAR-10's binary version: each record has one byte for the class, then the planes of red, green and blue.
const (
	cifarSide    = 32 // pixels
	cifarImage   = 3 * cifarSide * cifarSide
	cifarClasses = 10
)

// cifarFiles are the files of the archive, the training batches in their order and the test batch.
var cifarFiles = []string{
	"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin",
	"test_batch.bin",
}

// cifarSums are the checksums of the unpacked files. TorchVision for Ruby lists them, and the archive's.
var cifarSums = map[string]string{
	"data_batch_1.bin": "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5",
	"data_batch_2.bin": "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed",
	"data_batch_3.bin": "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67",
	"data_batch_4.bin": "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48",
	"data_batch_5.bin": "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add",
	"test_batch.bin":   "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b",
}

// cifar reads the published files, or small ones of the same form in tests.
type cifar struct {
	batch int // records of a file
}

// cifarEntry returns CIFAR-10 in its binary version.
func cifarEntry() *entry {
	set := cifar{batch: 10_000}
	return &entry{
		info: Info{
			Name:        "cifar-10",
			Kind:        KindImages,
			Description: "photographs of animals and vehicles, 32x32 in colour",
			Train:       5 * set.batch, Test: set.batch,
			SampleShape: []int{3, cifarSide, cifarSide}, Classes: cifarClasses,
			ClassNames: []string{"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"},
			Licence:    "none stated; the authors ask to be cited",
			Source:     "https://www.cs.toronto.edu/~kriz/cifar.html",
			Citation:   "Krizhevsky: Learning multiple layers of features from tiny images, 2009",
		},
		files: []file{{
			name: "cifar-10-binary.tar.gz", size: 170_052_171,
			sum:  sha256Prefix + "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
			tree: set.tree(),
		}},
		mirrors: []string{"https://www.cs.toronto.edu/~kriz/"},
		images:  set.images,

		// The constants of chenyaofo/pytorch-cifar-models, for networks that were trained on CIFAR-100.
		normalisation: Normalisation{Mean: []float64{0.5070, 0.4865, 0.4409}, Std: []float64{0.2673, 0.2564, 0.2761}},
	}
}

func (d cifar) tree() *tree {
	return &tree{
		name:   "cifar-10-batches-bin",
		dirs:   []string{"."},
		wanted: func(member string) bool { return slices.Contains(cifarFiles, member) },
		sums:   cifarSums,
		check: func(ctx context.Context, src *source) error {
			_, err := d.read(ctx, src)
			return err
		},
	}
}

func (d cifar) images(ctx context.Context, s *store) (*RawSet, error) {
	src, err := s.source(ctx, s.files[0])
	if err != nil {
		return nil, err
	}
	defer src.close()
	return d.read(ctx, src)
}

// read reads all batches.
func (d cifar) read(ctx context.Context, src *source) (*RawSet, error) {
	raw := &RawSet{Train: newCIFARImages(5 * d.batch), Test: newCIFARImages(d.batch)}
	missing := slices.Clone(cifarFiles)
	err := src.each(ctx, func(member string, in io.Reader) error {
		missing = slices.DeleteFunc(missing, func(name string) bool { return name == member })
		images, first := &raw.Train, d.batch*slices.Index(cifarFiles, member)
		if first == raw.Train.N {
			images, first = &raw.Test, 0
		}
		return images.readCIFAR(in, first, d.batch)
	})
	if err != nil {
		return nil, err
	}
	if len(missing) > 0 {
		return nil, invalidf("%s: %s is missing", src.path, missing[0])
	}
	raw.Edition = src.edition()
	return raw, nil
}

func newCIFARImages(n int) Images {
	return Images{
		N: n, Shape: []int{3, cifarSide, cifarSide},
		Pixels: make([]byte, n*cifarImage),
		Labels: make([]byte, n),
	}
}

// readCIFAR reads n records as images first, first+1, …; more records are an error.
func (im *Images) readCIFAR(in io.Reader, first, n int) error {
	records := bufio.NewReaderSize(in, 1<<18)
	for i := range n {
		label, err := records.ReadByte()
		if err == nil {
			_, err = io.ReadFull(records, im.Pixels[(first+i)*cifarImage:][:cifarImage])
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return invalidf("ends in record %d of %d", i, n)
		case err != nil:
			return unpackError(err)
		case label >= cifarClasses:
			return invalidf("record %d: its class is %d, want 0 to %d", i, label, cifarClasses-1)
		}
		im.Labels[first+i] = label
	}
	if more, err := io.CopyN(io.Discard, records, 1); more > 0 {
		return invalidf("more than %d records", n)
	} else if !errors.Is(err, io.EOF) {
		return unpackError(err)
	}
	return nil
}
