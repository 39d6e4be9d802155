package datasets

import (
	"context"
	"fmt"
	"runtime"
	"sync"
)

// Images are the images of a split as bytes, which take a quarter of the memory of samples.
type Images struct {
	N       int
	Shape   []int  // of one image: channels, rows, columns
	Pixels  []byte // row-major, N times the product of Shape
	Labels  []byte // N class indices from 0 to Classes-1
	Classes int
}

// RawSet is a data set of images before normalisation.
type RawSet struct {
	Name          string
	Train, Test   Images
	Normalisation Normalisation
	Edition       State // [OK], [Unofficial] or [Unverified]: whether the files are the published ones
}

// OpenRaw returns the named data set of images as bytes. A program that needs few samples at a time, such as one that
// extracts features, can normalise them in parts, while [Open] normalises all at once. OpenRaw returns the errors of
// Open, and one for a set that doesn't consist of images.
func OpenRaw(ctx context.Context, name string, o Options) (*RawSet, error) {
	e, err := ofImages(name)
	if err != nil {
		return nil, err
	}
	return e.openRaw(ctx, o)
}

// ofImages returns the named data set of images.
func ofImages(name string) (*entry, error) {
	e, err := lookup(registry(), name)
	if err == nil && e.images == nil {
		err = fmt.Errorf("%s: not a data set of images", name)
	}
	return e, err
}

func (e *entry) openRaw(ctx context.Context, o Options) (*RawSet, error) {
	return in(e, o, func(s *store) (*RawSet, error) {
		raw, err := e.images(ctx, s)
		if err == nil {
			raw.Name, raw.Normalisation = e.info.Name, e.normalisation
			raw.Train.Classes, raw.Test.Classes = e.info.Classes, e.info.Classes
		}
		return raw, err
	})
}

// set normalises all images, and drops the raw ones to save memory.
func (r *RawSet) set() *Set {
	s := &Set{Name: r.Name, Normalisation: r.Normalisation, Edition: r.Edition}
	s.Train, r.Train = r.Train.split(r.Normalisation), Images{}
	s.Test, r.Test = r.Test.split(r.Normalisation), Images{}
	return s
}

// Size returns the number of bytes of one image.
func (im *Images) Size() int { return product(im.Shape) }

// Normalise writes the samples of the images first, first+1, … to dst until it is full. The length of dst must be a
// multiple of Size. Normalise panics if there are too few images.
func (im *Images) Normalise(dst []float32, first int, n Normalisation) {
	size := im.Size()
	if len(dst)%size != 0 || first < 0 || first+len(dst)/size > im.N {
		panic(fmt.Sprintf("datasets: %d values from image %d on, of %d images of %d bytes", len(dst), first, im.N, size))
	}
	pixels := im.Pixels[first*size:][:len(dst)]
	plane := size / im.Shape[0]
	for c := range im.Shape[0] {
		table := n.table(c)
		for at := c * plane; at < len(dst); at += size {
			table.normalise(dst[at:][:plane], pixels[at:])
		}
	}
}

// split normalises the images and labels.
func (im *Images) split(n Normalisation) Split {
	s := Split{
		N:           im.N,
		SampleShape: im.Shape,
		Samples:     make([]float32, len(im.Pixels)),
		Labels:      integers(im.Labels),
		Classes:     im.Classes,
	}
	size, parts := im.Size(), runtime.GOMAXPROCS(0)
	var done sync.WaitGroup
	for k := range parts {
		from, to := k*im.N/parts, (k+1)*im.N/parts
		done.Go(func() { im.Normalise(s.Samples[from*size:to*size], from, n) })
	}
	done.Wait()
	return s
}

func integers(labels []byte) []int32 {
	out := make([]int32, len(labels))
	for i, l := range labels {
		out[i] = int32(l)
	}
	return out
}

// Normalisation holds the constants that turn bytes into samples, one Mean and one Std for each channel: see the
// library's package. It is the zero value for a set of texts.
type Normalisation struct {
	Mean, Std []float64
}

// sampleValues has the sample value of each raw byte of a channel.
type sampleValues [256]float32

// table returns the sample values of a channel. It computes no product followed by a sum, which some platforms fuse, so
// its values are the same on all platforms.
func (n Normalisation) table(channel int) *sampleValues {
	var t sampleValues
	for raw := range t {
		t[raw] = float32((float64(raw)/255 - n.Mean[channel]) / n.Std[channel])
	}
	return &t
}

// normalise writes the sample values of as many pixels as dst holds.
func (t *sampleValues) normalise(dst []float32, pixels []byte) {
	for i, p := range pixels[:len(dst)] {
		dst[i] = t[p]
	}
}
