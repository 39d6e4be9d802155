package train

import (
	"fmt"
	"testing"

	"github.com/dptrain/dptrain/internal/engine"
)

// The time of an update besides the engine's step, for a network of the size of MNIST's CNN and a larger one.
func BenchmarkMove(b *testing.B) {
	for _, size := range []int{26_010, 1_000_000} {
		everything := AdamW(0.01, 0.01)
		everything.Average, everything.Accumulate = 0.999, 2
		for _, o := range []Optimizer{{Method: DPSGD, LearningRate: 0.1, Schedule: Cosine(0)}, Momentum(0.1, 0.9), AdamW(0.01, 0.01), everything} {
			b.Run(fmt.Sprintf("%s/%d", o, size), func(b *testing.B) {
				l := engine.Layout{Offsets: []int{0}, Lengths: []int{size}, Size: size}
				m := must(newMover(o, must(factors(o.Schedule, 1<<20)), nil, []string{"w"}, l, 1<<20, false))
				params, gradient := make([]float32, size), make([]float32, size)
				for i := range gradient {
					gradient[i] = float32(i%7) - 3
				}
				step := 0
				for b.Loop() {
					if step++; step > 1<<20 {
						step = 1
					}
					if err := m.move(step, params, gradient); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
