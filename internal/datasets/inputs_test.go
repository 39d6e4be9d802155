package datasets

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/long"
)

// pictureOf is a picture of 2 columns and 3 rows.
func pictureOf(t testing.TB, at func(x, y int) color.Color) []byte {
	t.Helper()
	picture := image.NewNRGBA(image.Rect(0, 0, 2, 3))
	for y := range 3 {
		for x := range 2 {
			picture.Set(x, y, at(x, y))
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, picture); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Planes of red, green and blue, row by row; grey is 0.299 red + 0.587 green + 0.114 blue.
func TestDecodeImage(t *testing.T) {
	file := pictureOf(t, func(x, y int) color.Color { return color.NRGBA{uint8(100 + 10*y + x), uint8(20 * y), 200, 255} })
	got, err := DecodeImage(file, []int{3, 3, 2})
	want := []byte{100, 101, 110, 111, 120, 121, 0, 0, 20, 20, 40, 40, 200, 200, 200, 200, 200, 200}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	if got, err := DecodeImage(file, []int{1, 3, 2}); err != nil || len(got) != 6 || got[0] != 52 || got[4] != 82 {
		t.Errorf("%v, %v, want .299·100+.114·200 = 52.7 first, .299·120+.587·40+.114·200 = 82.2 as the fifth", got, err)
	}
	grey := pictureOf(t, func(x, y int) color.Color { return color.Gray{uint8(50*y + x)} })
	if got, err := DecodeImage(grey, []int{1, 3, 2}); err != nil || !slices.Equal(got, []byte{0, 1, 50, 51, 100, 101}) {
		t.Errorf("%v, %v", got, err)
	}
	var b bytes.Buffer
	plain := image.NewGray(image.Rect(0, 0, 2, 3))
	for i := range plain.Pix {
		plain.Pix[i] = 77
	}
	if err := jpeg.Encode(&b, plain, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := DecodeImage(b.Bytes(), []int{3, 3, 2}); err != nil || len(got) != 18 || slices.ContainsFunc(got, func(p byte) bool { return p < 75 || p > 79 }) {
		t.Errorf("a JPEG image: %v, %v, want about 77", got, err)
	}
}

func TestDecodeImageRefuses(t *testing.T) {
	clear := pictureOf(t, func(x, y int) color.Color { return color.NRGBA{1, 2, 3, 254} })
	for name, c := range map[string]struct {
		file  []byte
		shape []int
		want  string
	}{
		"another size": {clear, []int{3, 28, 28}, "an image of 2×3 pixels; want 28×28"},
		"rows swapped": {clear, []int{3, 2, 3}, "an image of 2×3 pixels; want 3×2"},
		"transparent":  {clear, []int{3, 3, 2}, "transparent pixels"},
		"cut short":    {clear[:40], []int{3, 3, 2}, ""},
		"no image":     {[]byte("a,b\n1,2\n"), []int{3, 3, 2}, "not a PNG or JPEG image"},
		"empty":        {nil, []int{3, 3, 2}, "not a PNG or JPEG image"},
	} {
		if got, err := DecodeImage(c.file, c.shape); got != nil || !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if _, err := DecodeImage(clear, []int{2, 3, 2}); err == nil {
		t.Error("images of two channels were taken")
	}
}

func FuzzDecodeImage(f *testing.F) {
	f.Add(pictureOf(f, func(x, y int) color.Color { return color.Gray{uint8(x)} }))
	f.Add([]byte("\xff\xd8\xff"))
	f.Fuzz(func(t *testing.T, file []byte) {
		if got, err := DecodeImage(file, []int{3, 3, 2}); err == nil && len(got) != 18 {
			t.Errorf("%d bytes", len(got))
		}
	})
}

// The constants are the ones that Open normalises the set with.
func TestNormalisationOf(t *testing.T) {
	long.SkipRace(t, "it runs nothing side by side")
	set, err := Open(t.Context(), "glyphs", Options{})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := OpenRaw(t.Context(), "glyphs", Options{})
	if err != nil {
		t.Fatal(err)
	}
	n, err := NormalisationOf("glyphs")
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range raw.Test.Pixels[:784] {
		if want := float32((float64(p)/255 - n.Mean[0]) / n.Std[0]); set.Test.Samples[i] != want {
			t.Fatalf("pixel %d: %v, want %v", i, set.Test.Samples[i], want)
		}
	}
	for name, want := range map[string]Normalisation{ // as the sources say
		"mnist": {[]float64{0.1307}, []float64{0.3081}}, "fashion-mnist": {[]float64{0.2860}, []float64{0.3530}},
		"cifar-10": {[]float64{0.5070, 0.4865, 0.4409}, []float64{0.2673, 0.2564, 0.2761}},
	} {
		if got, err := NormalisationOf(name); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if _, err := NormalisationOf("imdb"); err == nil {
		t.Error("texts have a normalisation")
	}
	var unknown *UnknownError
	if _, err := NormalisationOf("mnits"); !errors.As(err, &unknown) {
		t.Errorf("%v", err)
	}
}

// A review of the data set gets the same tokens as in the data set.
func TestTokenise(t *testing.T) {
	dir := os.Getenv("DPTRAIN_DATA")
	if dir == "" {
		t.Skip("DPTRAIN_DATA has no vocabulary")
	}
	split, err := Tokenise(context.Background(), [][]byte{[]byte("a film"), nil}, Options{TextLength: 6})
	if err != nil {
		t.Skip(err)
	}
	// bert-base-cased has [CLS] a film [SEP] as 101 170 1273 102.
	if want := []int32{101, 170, 1273, 102, 0, 0, 101, 102, 0, 0, 0, 0}; split.N != 2 || !slices.Equal(split.Tokens, want) {
		t.Errorf("%v, want %v", split.Tokens, want)
	}
	if want := []float32{.25, .25, .25, .25, 0, 0, .5, .5, 0, 0, 0, 0}; !slices.Equal(split.Weights, want) || split.Labels != nil {
		t.Errorf("%v, want %v; labels %v", split.Weights, want, split.Labels)
	}
}
