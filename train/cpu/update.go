package cpu

import (
	"math"

	"github.com/dptrain/dptrain/internal/random"
	"github.com/dptrain/dptrain/train/engine"
)

// pieceSize is the number of coordinates that are noised and updated at once; even, since normals come
// in pairs.
const pieceSize = 4096

// piece is a range of one parameter's coordinates.
type piece struct {
	param, from, to int
	word            uint64 // of the noise stream, where the piece's normals begin
}

// cut divides the parameters into pieces. Every parameter starts on an even word.
func cut(params [][]float32) []piece {
	var out []piece
	word := 0
	for i, p := range params {
		for from := 0; from < len(p); from += pieceSize {
			out = append(out, piece{i, from, min(from+pieceSize, len(p)), uint64(word + from)})
		}
		word += (len(p) + 1) / 2 * 2
	}
	return out
}

// update adds the noise to the clipped sum, divides by the expected batch size and lets the optimizer
// move the parameters. Nothing else ever reads the sum.
func (r *run) update() error {
	return r.share(len(r.pieces), func(_ *worker, i int) error {
		p := r.pieces[i]
		var sum, noise [pieceSize]float64
		n := p.to - p.from
		r.total(p, sum[:n])
		r.noisyMean(p, sum[:n], noise[:n])
		r.optimize(p, noise[:n])
		return nil
	})
}

// total adds up what the workers hold of one piece: exactly, and so in any order.
func (r *run) total(p piece, sum []float64) {
	for _, w := range r.pool {
		for j, v := range w.acc[p.param][p.from:p.to] {
			sum[j] += v
		}
	}
}

// noisyMean writes (sum + noise) / expected batch size for one piece.
func (r *run) noisyMean(p piece, sum, mean []float64) {
	if r.std > 0 {
		s := r.stream(random.Noise)
		s.Seek(p.word)
		s.Normals(mean)
	}
	// Grids are powers of two: multiplying by their inverses is exact.
	fine, coarse := r.grid, r.coarse
	perFine, perCoarse := 1/fine, 1/coarse
	divisor := r.job.Mechanism.ExpectedBatchSize
	for j, z := range mean {
		noisy := sum[j] + math.RoundToEven(z*r.std*perFine)*fine
		mean[j] = math.RoundToEven(noisy*perCoarse) * coarse / divisor
	}
}

// optimize applies the noisy mean gradient of one piece.
func (r *run) optimize(p piece, gradient []float64) {
	o := r.job.Optimizer
	theta := r.params[p.param][p.from:p.to]
	if o.Method == engine.SGD {
		for j, g := range gradient {
			// The conversions keep compilers from fusing: every machine takes the same step.
			theta[j] = float32(float64(theta[j]) - float64(o.LearningRate*g))
		}
		return
	}
	m, v := r.first[p.param][p.from:p.to], r.second[p.param][p.from:p.to]
	t := float64(r.done + 1)
	c1, c2 := 1-math.Pow(o.Beta1, t), 1-math.Pow(o.Beta2, t)
	for j, g := range gradient {
		mj := float64(o.Beta1*float64(m[j])) + float64((1-o.Beta1)*g)
		vj := float64(o.Beta2*float64(v[j])) + float64((1-o.Beta2)*g*g)
		m[j], v[j] = float32(mj), float32(vj)
		theta[j] = float32(float64(theta[j]) - float64(o.LearningRate*(mj/c1)/(math.Sqrt(vj/c2)+o.Epsilon)))
	}
}
