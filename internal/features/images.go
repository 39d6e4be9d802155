package features

import "fmt"

// pixels is the number of values of an image, 3 channels of 32 rows of 32.
const pixels = 3 * 32 * 32

// atOnce is the number of images that an engine gets together: enough to keep a GPU busy, and few enough to report
// progress about twice a second on two cores. Only tests change it.
var atOnce = 1000

// Images are N images [3, 32, 32], normalised as the network's training images were. They are asked for block by block,
// so that they needn't be in memory at once.
type Images struct {
	N int
	// Read writes the images from number first on to dst, as many as dst has room for, row after row. It is asked for
	// no image beyond the last, and has the same for the same number each time.
	Read func(dst []float32, first int)
}

// InMemory are images that lie row after row: [N, 3, 32, 32].
func InMemory(values []float32) (Images, error) {
	if len(values)%pixels != 0 {
		return Images{}, fmt.Errorf("images: %d values don't divide into images of %d", len(values), pixels)
	}
	return Images{len(values) / pixels, func(dst []float32, first int) { copy(dst, values[first*pixels:]) }}, nil
}

// blocks calls f for one block of images after another. What f gets is its own until it returns.
func (m Images) blocks(f func(from, to int, values []float32) error) error {
	room := make([]float32, min(atOnce, m.N)*pixels)
	for from := 0; from < m.N; from += atOnce {
		to := min(from+atOnce, m.N)
		values := room[:(to-from)*pixels]
		m.Read(values, from)
		if err := f(from, to, values); err != nil {
			return err
		}
	}
	return nil
}
