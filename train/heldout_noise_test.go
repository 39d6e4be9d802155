package train

import (
	"math"
	"math/big"
	"testing"

	"github.com/dptrain/dptrain/internal/random"
	"pgregory.net/rapid"
)

// A noisy sum is the sum plus the noise on the fine grid, rounded once more, as in integer arithmetic: nothing else is
// lost, up to 2^31 samples and the maximum noise. Its grid is at most 1/64 of the noise, or the fine one.
func TestNoisySumsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		deviation := math.Exp(rapid.Float64Range(math.Log(1e-9), math.Log(maxScoreNoise)).Draw(t, "log deviation"))
		units := rapid.Int64Range(-1<<40, 1<<40).Draw(t, "sum") // of 2^-10
		key := random.Key{rapid.Byte().Draw(t, "key"), 1}
		id := random.ID{Purpose: random.Score}
		got := new(HeldOut).noisy([]float64{float64(units) / 1024}, deviation, key.Stream(id))[0]

		normal := make([]float64, 1)
		key.Stream(id).Normals(normal)
		noise, _ := big.NewFloat(math.RoundToEven(normal[0] * deviation * 1024)).Int64()
		coarse := int64(1) // in units: 1/64 of the noise, rounded down to a power of two
		for float64(2*coarse)/1024 <= deviation/64 {
			coarse *= 2
		}
		sum := units + noise
		low := sum - ((sum%coarse)+coarse)%coarse
		want := low
		if rest := sum - low; 2*rest > coarse || 2*rest == coarse && (low/coarse)%2 != 0 {
			want += coarse
		}
		if got != float64(want)/1024 {
			t.Fatalf("noisy sum %v, want %v/1024", got, want)
		}
	})
}

// Each sum of a release has its own noise: covariances are 0 and variances equal the noise's. Falsely rejects with
// probability below 1e-5: six means of 4,000 products are within five standard deviations each.
func TestReleasedSumsHaveNoiseEach(t *testing.T) {
	const draws, deviation = 4000, 100
	var products [3][3]float64
	for i := range draws {
		sums := new(HeldOut).noisy([]float64{0, 0, 0}, deviation, random.Key{byte(i), byte(i >> 8), 3}.Stream(random.ID{Purpose: random.Score}))
		for a := range sums {
			for b := range sums {
				products[a][b] += sums[a] * sums[b] / (deviation * deviation) / draws
			}
		}
	}
	for a, row := range products {
		for b, got := range row {
			want, spread := 0.0, 1.0
			if a == b {
				want, spread = 1, math.Sqrt2
			}
			if math.Abs(got-want) > 5*spread/math.Sqrt(draws) {
				t.Errorf("mean product of sums %d and %d: %v of the variance, want %v", a, b, got, want)
			}
		}
	}
}

// The interval has the variances of both normals: 0.25/(h n) from the draw and (sigma/(h n))²/2 from the noise.
func TestHeldOutInterval(t *testing.T) {
	const samples, noise = 3200, 40
	set, err := NewClassification(make([]float32, samples), make([]int32, samples), 3)
	if err != nil {
		t.Fatal(err)
	}
	rows, outputs := []int32{}, []float32{}
	for i := range int32(800) { // as many as a quarter of the samples: 400 right, 400 wrong
		rows = append(rows, i)
		outputs = append(outputs, float32(i%2), 0.5, 0)
	}
	h, err := NewHeldOut(set, rows, HeldOutSettings{Rate: 0.25, NoiseMultiplier: noise})
	if err != nil {
		t.Fatal(err)
	}
	r, err := h.Release(outputs, samples, Key{5})
	if err != nil {
		t.Fatal(err)
	}
	// sqrt(0.25/800 + 1600/2/640000) = sqrt(0.0003125 + 0.00125) = 0.0395285
	const half = 1.96 * 0.0395285
	if math.Abs(r.Score-r.Interval[0]-half) > 1e-5 || math.Abs(r.Interval[1]-r.Score-half) > 1e-5 {
		t.Errorf("score %v, interval %v, want %v on either side", r.Score, r.Interval, half)
	}
	if math.Abs(r.Score-0.5) > 5*0.0395285 || r.Constant < 0.7 {
		t.Errorf("released %+v, want a score of about 0.5 and a constant of about 1", r)
	}
}
