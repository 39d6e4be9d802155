package cpu

import (
	"math"
	"testing"

	"github.com/dptrain/dptrain/internal/random"
)

// Normals are those of the stream that the words are from, however many.
func TestNormalsAreTheStreams(t *testing.T) {
	for _, n := range []int{1, 2, 255, 256, 257, 600} {
		stream := *random.InsecureKey(2).Stream(random.ID{Purpose: random.GraphDraws})
		words, z, again, want := make([]uint64, n+n%2), make([]float32, n), stream, make([]float64, n)
		again.Normals(want)
		for i := range words {
			words[i] = stream.Uint64()
		}
		normals(z, words)
		for i, v := range z {
			if v != float32(want[i]) {
				t.Fatalf("normal %d of %d is %v, the stream's %v", i, n, v, want[i])
			}
		}
	}
}

// Sums of a random node's numbers over samples have the variance of their law, and the numbers themselves its mean and
// its fourth moment. The key is fixed, so that nothing fails by chance; a random key would fail in 10⁻⁸ of cases: six
// statistics are within 6 standard errors.
func TestLawsOfRandomNodes(t *testing.T) {
	const samples, size = 400, 512
	stream := random.InsecureKey(1).Stream(random.ID{Purpose: random.GraphDraws})
	for name, law := range map[string]struct {
		fill                   func([]float32, []uint64)
		mean, variance, fourth float64 // of the standardised number's fourth power the mean, and its variance below
		ofFourth               float64
	}{
		"normal":  {normals, 0, 1, 3, 96},
		"uniform": {uniforms, 0.5, 1. / 12, 9. / 5, 9 - 81./25},
	} {
		sums := make([]float64, size)
		words, z := make([]uint64, size), make([]float32, size)
		var total, fourths float64
		for range samples {
			for i := range words {
				words[i] = stream.Uint64()
			}
			law.fill(z, words)
			for i, v := range z {
				d := (float64(v) - law.mean) / math.Sqrt(law.variance)
				sums[i] += d
				total, fourths = total+d, fourths+d*d*d*d
			}
		}
		squares := 0.0
		for _, v := range sums {
			squares += v * v / samples
		}
		const n = samples * size
		for what, score := range map[string]float64{
			"mean":             total / math.Sqrt(n),
			"fourth moment":    (fourths - n*law.fourth) / math.Sqrt(n*law.ofFourth),
			"variance of sums": (squares - size) / math.Sqrt(2*size),
		} {
			if !(math.Abs(score) <= 6) {
				t.Errorf("the %s of %s numbers is %v standard errors off", what, name, score)
			}
		}
	}
}
