package features

// pixels is the number of values of an image: 3 channels of 32×32.
const pixels = 3 * 32 * 32

// atOnce is the number of images in a piece: enough to keep a GPU busy, and few enough to report progress about twice a
// second on two cores. Tests change it too.
var atOnce = 1000

// Images is a set of N images [3, 32, 32], normalised in the same way as the images that the network was trained on.
// They are read in parts, so that not all of them need to be in memory.
type Images struct {
	N int
	// Read writes the images first, first+1, … to dst, as many as fit, one after another. It isn't called for images
	// beyond the last, and must return the same image for the same index each time.
	Read func(dst []float32, first int)
}

// pieces calls f for images from, …, to-1, piece by piece. f may change values, which are valid until it returns.
func (m Images) pieces(f func(from, to int, values []float32) error) error {
	buffer := make([]float32, min(atOnce, m.N)*pixels)
	for from := 0; from < m.N; from += atOnce {
		to := min(from+atOnce, m.N)
		values := buffer[:(to-from)*pixels]
		m.Read(values, from)
		if err := f(from, to, values); err != nil {
			return err
		}
	}
	return nil
}
