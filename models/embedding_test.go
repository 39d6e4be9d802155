package models_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/models"
	"gorgonia.org/tensor"
)

// Opacus's example says 464,242 parameters for the 28,996 words of BERT's cased vocabulary.
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

// Embeddings begin as standard normals, layers as all others do. Of 16,000 values the mean's z value exceeds 5 with probability
// 6e-7, the variance's about as rarely; the seed is fixed.
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
				t.Errorf("%s begins at %v, beyond %v", n.Params[i].Name(), v, bound)
			}
		}
	}
}
