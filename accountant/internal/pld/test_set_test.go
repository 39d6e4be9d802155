package pld

import (
	"math"
	"testing"

	"github.com/dptrain/dptrain/accountant/internal/repetitions"
)

// A worst order of scores needs no exotic score: it is the accuracy, on a public test set, of the model that a trial
// releases. The trial here is DP-SGD with sampling rate 1 on a model of one weight w, which predicts class 1 if x < w.
// The differing sample's gradient is always -1 and the others' are 0, so with the learning rate 1 over the number of
// steps T the released weight is N(1, T s^2/T^2) with the sample and N(0, T s^2/T^2) without it, and its loss is the
// loss of all T steps. Where w passes a test sample of class 1 the accuracy rises, and at a sample of class 0 it falls.
// So test samples of class 0 below some border and of class 1 above it, in the right numbers, give any order that grows
// an interval. See docs/proofs/bounds.md, "Beside what others prove".
func TestAccuracyOnATestSetIsAWorstOrder(t *testing.T) {
	const deviation, cells = 2.6, 240 // sqrt(T) s/T
	normal := func(x float64) float64 { return math.Erfc(-x/deviation/math.Sqrt2) / 2 }
	var l law
	var edges []float64
	for i := range cells + 1 {
		edges = append(edges, -6*deviation+(12*deviation+1)*float64(i)/cells)
	}
	for i := range cells {
		low, high := edges[i], edges[i+1]
		if i == 0 {
			low = math.Inf(-1)
		}
		if i == cells-1 {
			high = math.Inf(1)
		}
		l.add(normal(high-1)-normal(low-1), normal(high)-normal(low))
	}
	for _, c := range []struct {
		k       repetitions.Distribution
		epsilon float64
	}{
		{repetitions.Poisson{Mean: 15}, 3.4}, {repetitions.NegativeBinomial{Shape: 1, Success: 1. / 15}, 2.3}, {repetitions.Binomial{Trials: 30, Probability: 0.5}, 3.9},
	} {
		place := l.worstInterval(c.k, math.Exp(c.epsilon))
		// The test set: the number of samples between neighbouring cells is the wanted change of the accuracy.
		var at []float64
		var class []bool
		for i := 1; i < cells; i++ {
			change := place[i] - place[i-1]
			for range max(change, -change) {
				at, class = append(at, edges[i]), append(class, change > 0)
			}
		}
		right := make([]int, cells) // samples that the model is right about
		for i := range right {
			w := (edges[i] + edges[i+1]) / 2
			for s, x := range at {
				if (x < w) == class[s] {
					right[i]++
				}
			}
		}
		best := l.best(c.k, right)
		got := hockey(best.p, best.q, c.epsilon)
		d := oneGaussian(t, deviation, 0.002)
		bound := NewSelection(d, c.k, CellCountAlone).Remove(c.epsilon)
		t.Logf("%#v: delta %v with %d test samples, bound %v", c.k, got, len(at), bound)
		if !(got <= bound && got > 0.95*bound) {
			t.Errorf("%#v at epsilon %v: by accuracy delta is %v, the bound %v", c.k, c.epsilon, got, bound)
		}
	}
}

// worstInterval returns the position of each outcome in the worst order that grows an interval of whole outcomes.
func (d law) worstInterval(k repetitions.Distribution, c float64) []int {
	n := len(d.p)
	o, f := d.intervals(k), above(c)
	value, aboveNext := make([][]float64, n+1), make([][]bool, n+1) // [j][i]
	added := func(i, j, cell int) float64 { x := o.added(i, j, cell); return f(x[0], x[1]) }
	best, from := math.Inf(-1), 0
	for j := n; j >= 0; j-- {
		value[j], aboveNext[j] = make([]float64, j+1), make([]bool, j+1)
		for i := range j + 1 {
			v := math.Inf(-1)
			switch {
			case j < n:
				v, aboveNext[j][i] = value[j+1][i]+added(i, j+1, j), true
			case i == 0:
				v = 0
			}
			if i > 0 {
				if w := value[j][i-1] + added(i-1, j, i-1); w > v {
					v, aboveNext[j][i] = w, false
				}
			}
			value[j][i] = v
		}
		if value[j][j] > best {
			best, from = value[j][j], j
		}
	}
	place := make([]int, n)
	for i, j, count := from, from, 0; count < n; count++ {
		if aboveNext[j][i] {
			place[j] = count
			j++
		} else {
			i--
			place[i] = count
		}
	}
	return place
}
