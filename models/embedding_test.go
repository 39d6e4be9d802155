package models_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/enginetest"
	"github.com/dptrain/dptrain/models"
	"gorgonia.org/tensor"
)

// Opacus's example has 464,242 parameters for the 28,996 tokens of BERT's cased vocabulary.
func TestEmbeddingClassifier(t *testing.T) {
	n, err := models.EmbeddingClassifier(models.Options{Batch: 3}, 28996, 256, 16, 16, 2)
	if err != nil {
		t.Fatal(err)
	}
	if got := size(n); got != 464242 {
		t.Errorf("%d parameters, want 464,242", got)
	}
	var names []string
	for _, in := range n.Inputs {
		names = append(names, in.Name())
	}
	if got := strings.Join(names, " "); got != "ids weights y" || n.Inputs[0].Dtype() != tensor.Int || n.Inputs[1].Dtype() != tensor.Float32 {
		t.Errorf("the inputs are %s, of types %v and %v", got, n.Inputs[0].Dtype(), n.Inputs[1].Dtype())
	}
	if !n.Output.Shape().Eq(tensor.Shape{3, 2}) {
		t.Errorf("the output has shape %v", n.Output.Shape())
	}
}

func TestEmbeddingClassifierOfNothing(t *testing.T) {
	for _, sizes := range [][5]int{{0, 4, 4, 4, 2}, {9, 0, 4, 4, 2}, {9, 4, 0, 4, 2}, {9, 4, 4, -1, 2}, {9, 4, 4, 4, 1}} {
		if _, err := models.EmbeddingClassifier(models.Options{}, sizes[0], sizes[1], sizes[2], sizes[3], sizes[4]); err == nil {
			t.Errorf("sizes %v were taken", sizes)
		}
	}
}

// Embeddings begin as standard normals, other layers as always. The z value of the mean of 16,000 values exceeds 5 with
// probability 6e-7, the variance's about as rarely; the seed is fixed.
func TestEmbeddingBeginsNormal(t *testing.T) {
	n, err := models.EmbeddingClassifier(models.Options{}, 1000, 8, 16, 9, 2)
	if err != nil {
		t.Fatal(err)
	}
	values := n.Initial(rand.NewPCG(1, 2))
	sum, squares, count := 0.0, 0.0, float64(len(values[0]))
	for _, v := range values[0] {
		sum += float64(v)
		squares += float64(v) * float64(v)
	}
	if z := sum / math.Sqrt(count); math.Abs(z) > 5 || count != 16000 {
		t.Errorf("the mean of %v embeddings is %v standard errors from 0", count, z)
	}
	if z := (squares/count - 1) / math.Sqrt(2/count); math.Abs(z) > 5 {
		t.Errorf("the variance of embeddings is %v standard errors from 1", z)
	}
	for i, bound := range map[int]float64{1: 1. / 4, 2: 1. / 4, 3: 1. / 3, 4: 1. / 3} {
		for _, v := range values[i] {
			if math.Abs(float64(v)) > bound {
				t.Errorf("%s begins at %v, beyond %v", n.Parameters[i].Name(), v, bound)
			}
		}
	}
}

// The network's output for a text equals the formula, by hand in float64: the sum of the words' vectors times their
// weights, through two layers with a rectifier between them. Words occur twice, weights differ, and one is 0.
func TestEmbeddingClassifierIsTheFormula(t *testing.T) {
	const vocabulary, length, width, hidden, classes = 7, 5, 3, 4, 2
	n, err := models.EmbeddingClassifier(models.Options{}, vocabulary, length, width, hidden, classes)
	if err != nil {
		t.Fatal(err)
	}
	ref, err := enginetest.NewReference(source(n))
	if err != nil {
		t.Fatal(err)
	}
	draw := rand.New(rand.NewPCG(1, 2))
	var params [][]float32
	for _, p := range n.Parameters {
		values := make([]float32, p.Shape().TotalSize())
		for i := range values {
			values[i] = float32(draw.NormFloat64())
		}
		params = append(params, values)
	}
	rectified := 0
	for range 5 {
		ids, weights := make([]float32, length), make([]float32, length)
		for k := range ids {
			ids[k], weights[k] = float32(draw.IntN(vocabulary)), float32(draw.Float64())
		}
		ids[1], weights[3] = ids[0], 0
		x := make([]float64, width)
		for k, id := range ids {
			for j := range x {
				x[j] += float64(weights[k]) * float64(params[0][int(id)*width+j])
			}
		}
		layer := func(x []float64, w, b []float32) []float64 {
			out := make([]float64, len(b))
			for j := range out {
				out[j] = float64(b[j])
				for i, v := range x {
					out[j] += v * float64(w[i*len(b)+j])
				}
			}
			return out
		}
		h := layer(x, params[1], params[2])
		for j, v := range h {
			if v < 0 {
				rectified++
				h[j] = 0
			}
		}
		want := layer(h, params[3], params[4])
		got, err := ref.Output(params, [][]float32{ids, weights, {1, 0}})
		if err != nil {
			t.Fatal(err)
		}
		for j := range want {
			if !(math.Abs(float64(got[j])-want[j]) <= 1e-5) {
				t.Errorf("logits %v, want %v", got, want)
			}
		}
	}
	if rectified == 0 || rectified == 5*hidden {
		t.Errorf("the rectifier cuts %d of %d: the test shows little", rectified, 5*hidden)
	}
}
