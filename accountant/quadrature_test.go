package accountant

import (
	"math"
	"testing"
)

// bestGaussian is the density of the best of K Gaussian releases at y, with the released value as the score, over the
// nodes of a midpoint rule; shift is added by the sample.
func bestGaussian(k Repetitions, shift, noise float64, nodes []float64) []float64 {
	out := make([]float64, len(nodes))
	for i, y := range nodes {
		z := (y - shift) / noise
		out[i] = math.Exp(-z*z/2+k.law().LogSlope(math.Erfc(z/math.Sqrt2)/2)) / noise / math.Sqrt(2*math.Pi)
	}
	return out
}

func midpoints(low, high float64, n int) (nodes []float64, width float64) {
	width = (high - low) / float64(n)
	for i := range n {
		nodes = append(nodes, low+(float64(i)+0.5)*width)
	}
	return nodes, width
}

// TestTuningOfGaussians integrates the divergences of the best of K Gaussian releases, with a sample that raises the
// score and one that lowers it.
func TestTuningOfGaussians(t *testing.T) {
	geometric, err := Geometric(8)
	if err != nil {
		t.Fatal(err)
	}
	epsilons := []float64{0.05, 0.3, 1, 3}
	for _, k := range Every(2, []Repetitions{Poisson{Mean: 0.3}, Poisson{Mean: 1}, Poisson{Mean: 15}, TruncatedPoisson{Rate: 2}, geometric, Binomial{30, 0.1}, Binomial{6, 0.9}, Binomial{2, 0.7}}) {
		for _, noise := range Every(2, []float64{0.8, 3, 20}) {
			nodes, width := midpoints(-14*noise, 14*noise+1, 12000)
			with, without := bestGaussian(k, 1, noise, nodes), bestGaussian(k, 0, noise, nodes)
			event := Baseline(k, Gaussian{NoiseMultiplier: noise})
			curves := map[Mode][]float64{}
			for _, mode := range []Mode{Paper, Tight, Best} {
				c, err := RDP(event, Options{Mode: mode, Orders: Orders{Low: 2, High: 64}})
				if err != nil {
					t.Fatal(err)
				}
				curves[mode] = c
			}
			deltas, err := Deltas(event, Options{Mode: Best}, epsilons...)
			if err != nil {
				t.Fatal(err)
			}
			for _, direction := range [][2][]float64{{with, without}, {without, with}} {
				p, q := direction[0], direction[1]
				for _, a := range []int{2, 3, 8, 24} {
					total := k.law().None()
					for i := range p {
						total += width * math.Exp(float64(a)*math.Log(p[i])-float64(a-1)*math.Log(q[i]))
					}
					exact := math.Log(total) / float64(a-1)
					for mode, c := range curves {
						if c[a] < exact-1e-9 {
							t.Errorf("%#v, noise %v, mode %s, order %d: rdp %v is below %v", k, noise, mode, a, c[a], exact)
						}
					}
				}
				for j, epsilon := range epsilons {
					exact := 0.0
					for i := range p {
						exact += width * max(0, p[i]-math.Exp(epsilon)*q[i])
					}
					if deltas[j] < exact-1e-9 {
						t.Errorf("%#v, noise %v, epsilon %v: delta %v is below %v", k, noise, epsilon, deltas[j], exact)
					}
				}
			}
		}
	}
}
