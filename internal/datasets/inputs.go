package datasets

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	_ "image/jpeg"
	_ "image/png"
)

// NormalisationOf returns the constants by which [Open] makes samples of the bytes of the named data set's images, for
// images outside the set. The error is an [*UnknownError] for an unknown name.
func NormalisationOf(name string) (Normalisation, error) {
	e, err := ofImages(name)
	if err != nil {
		return Normalisation{}, err
	}
	return e.normalisation, nil
}

// DecodeImage decodes a PNG or JPEG file as the bytes of an image of the given shape, [channels, rows, columns]: grey
// for one channel, or the planes of red, green and blue for three. An image of another size, or with transparent
// pixels, is an error that matches [ErrInvalid]. It allocates no memory for an image of another size.
func DecodeImage(file []byte, shape []int) ([]byte, error) {
	if len(shape) != 3 || shape[0] != 1 && shape[0] != 3 {
		return nil, fmt.Errorf("decode an image: samples of shape %v are no images of one channel or three", shape)
	}
	channels, height, width := shape[0], shape[1], shape[2]
	header, _, err := image.DecodeConfig(bytes.NewReader(file))
	if err != nil {
		return nil, invalidf("not a PNG or JPEG image: %v", err)
	}
	if header.Width != width || header.Height != height {
		return nil, invalidf("an image of %d×%d pixels; want %d×%d, resize it", header.Width, header.Height, width, height)
	}
	picture, _, err := image.Decode(bytes.NewReader(file))
	if err != nil {
		return nil, invalidf("decode an image: %v", err)
	}
	corner, plane := picture.Bounds().Min, height*width
	pixels := make([]byte, channels*plane)
	for i := range plane {
		c := picture.At(corner.X+i%width, corner.Y+i/width)
		if _, _, _, alpha := c.RGBA(); alpha != 0xffff {
			return nil, invalidf("transparent pixels; put the image on a background")
		}
		if channels == 1 {
			pixels[i] = color.GrayModel.Convert(c).(color.Gray).Y
			continue
		}
		rgb := color.NRGBAModel.Convert(c).(color.NRGBA)
		pixels[i], pixels[plane+i], pixels[2*plane+i] = rgb.R, rgb.G, rgb.B
	}
	return pixels, nil
}

// Tokenise returns texts in the form in which [Open] returns the texts of data set imdb: each is cut or padded to
// [Options.TextLength] tokens. The split has no labels. It downloads the vocabulary if it is missing.
func Tokenise(ctx context.Context, texts [][]byte, o Options) (Split, error) {
	e := imdbEntry()
	store, err := e.store(o)
	if err != nil {
		return Split{}, err
	}
	pieces, err := store.vocabulary(ctx)
	if err != nil {
		return Split{}, err
	}
	reviews := make([]review, len(texts))
	for i, text := range texts {
		reviews[i].text = text
	}
	t := tokeniser{Vocabulary: pieces, length: store.textLength, total: len(texts), progress: store.tokenising}
	split, err := t.split(ctx, reviews)
	split.Labels, split.Classes = nil, e.info.Classes
	return split, err
}

// Split is the training or the test part of a data set: see the library's package.
type Split struct {
	N           int
	SampleShape []int
	Samples     []float32 // [N, SampleSize]; nil for texts
	Tokens      []int32   // [N, SampleSize]; nil for other sets, and so are the weights
	Vocabulary  int       // 0 for a set without texts
	Weights     []float32
	Labels      []int32 // N class indices from 0 to Classes-1
	Classes     int
}

// SampleSize returns the number of values, or of tokens, of one sample.
func (s *Split) SampleSize() int { return product(s.SampleShape) }

func product(shape []int) int {
	size := 1
	for _, d := range shape {
		size *= d
	}
	return size
}

// Set is a data set that is ready for training.
type Set struct {
	Name          string
	Train, Test   Split
	Normalisation Normalisation
	Edition       State // [OK], [Unofficial] or [Unverified]: whether its files are the published ones
}
