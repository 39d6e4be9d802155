package train

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/internal/engine"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// The model of these tests has words different words, and takes wordsAText of them.
const words, wordsAText = 40, 6

// textModel is the mean of the words' vectors, weighted, and a linear layer.
func textModel(t *testing.T) Model {
	t.Helper()
	const batch, width = 3, 4
	g := gorgonia.NewGraph()
	input := func(name string, of tensor.Dtype, size int) *gorgonia.Node {
		return gorgonia.NewMatrix(g, of, gorgonia.WithName(name), gorgonia.WithShape(batch, size))
	}
	reshaped := func(x *gorgonia.Node, shape ...int) *gorgonia.Node { return gorgonia.Must(gorgonia.Reshape(x, shape)) }
	ids, weights, y := input("ids", tensor.Int, wordsAText), input("weights", tensor.Float32, wordsAText), input("y", tensor.Float32, 2)
	table := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithName("table"), gorgonia.WithShape(words, width))
	w := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithName("w"), gorgonia.WithShape(width, 2))
	rows := reshaped(gorgonia.Must(gorgonia.ByIndices(table, reshaped(ids, batch*wordsAText), 0)), batch, wordsAText, width)
	rows = gorgonia.Must(gorgonia.BroadcastHadamardProd(rows, reshaped(weights, batch, wordsAText, 1), nil, []byte{2}))
	logits := gorgonia.Must(gorgonia.Mul(gorgonia.Must(gorgonia.Sum(rows, 1)), w))
	cost := gorgonia.Must(gorgonia.Neg(gorgonia.Must(gorgonia.Sum(
		gorgonia.Must(gorgonia.HadamardProd(y, gorgonia.Must(gorgonia.LogSoftMax(logits))))))))
	return Model{Inputs: gorgonia.Nodes{ids, weights, y}, Parameters: gorgonia.Nodes{table, w}, Output: logits, Cost: cost,
		Initial: func(seed rand.Source) [][]float32 {
			draw := rand.New(seed)
			values := [][]float32{make([]float32, words*width), make([]float32, width*2)}
			for _, v := range values {
				for k := range v {
					v[k] = float32(draw.NormFloat64())
				}
			}
			return values
		}}
}

// reviews returns n texts whose words decide the class: below 20 for the first, 20 or above for the second.
func reviews(t *testing.T, n int) *Classification {
	t.Helper()
	c, err := NewTokenClassification(reviewIDs(n), labelsOf(n), 2, slices.Repeat([]float32{1. / wordsAText}, n*wordsAText))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func reviewIDs(n int) []int32 {
	draw := rand.New(rand.NewPCG(5, 6))
	var ids []int32
	for i := range n * wordsAText {
		ids = append(ids, int32(i/wordsAText%2*words/2+draw.IntN(words/2)))
	}
	return ids
}

func labelsOf(n int) []int32 {
	var labels []int32
	for i := range n {
		labels = append(labels, int32(i%2))
	}
	return labels
}

func TestTextsAreLearned(t *testing.T) {
	s := cpuSettings(Adam(0.05))
	s.Privacy.NoiseMultiplier = 0.5
	trainer, err := New(cpu.New(cpu.Options{Workers: 2}), textModel(t), reviews(t, 600).Data, s)
	if err != nil {
		t.Fatal(err)
	}
	defer trainer.Close()
	if _, err := trainer.Train(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	// The key is fixed; a guess has 0.5.
	if got, err := trainer.Score(context.Background(), reviews(t, 200)); err != nil || got < 0.95 {
		t.Errorf("accuracy %v, %v", got, err)
	}
}

func TestNewTypedDataRefuses(t *testing.T) {
	for _, tt := range []struct {
		samples int
		column  engine.Column
		want    string
	}{
		{2, engine.Column{Ints: []int32{1, 2, 3}}, "column 0: 3 values don't divide into 2 samples"},
		{0, engine.Column{Ints: []int32{1}}, "column 0: 1 values for no samples"},
		{1, engine.Column{Ints: []int32{1}, Floats: []float32{1}}, "column 0: it holds both floating-point numbers and integers"},
	} {
		_, err := NewTypedData(tt.samples, tt.column)
		var data *DataError
		if !errors.As(err, &data) || err.Error() != tt.want {
			t.Errorf("got %v\nwant %s", err, tt.want)
		}
	}
	if _, err := NewTypedData(2, engine.Column{Ints: []int32{-1, 2}}); err != nil {
		t.Error(err)
	}
}

func TestTokenClassificationColumns(t *testing.T) {
	c, err := NewTokenClassification([]int32{7, 8, 9, 10}, []int32{1, 0}, 2, []float32{0.5, 1})
	if err != nil {
		t.Fatal(err)
	}
	got := c.columns.Columns
	if len(got) != 3 || !slices.Equal(got[0].Ints, []int32{7, 8, 9, 10}) || !slices.Equal(got[1].Floats, []float32{0.5, 1}) || !slices.Equal(got[2].Floats, []float32{0, 1, 1, 0}) {
		t.Errorf("the columns are %v", got)
	}
	if _, err := NewTokenClassification([]int32{7, 8, 9}, []int32{1, 0}, 2); err == nil {
		t.Error("three ids were divided into two samples")
	}
}

// Indices outside a table, and columns of another type, are refused before anything runs: for training, for a test set
// and for a prediction.
func TestTokensOutOfRange(t *testing.T) {
	fitting := reviews(t, 8)
	weights := fitting.columns.Columns[1].Floats
	tokens := func(change func(ids []int32)) *Classification {
		ids := reviewIDs(8)
		change(ids)
		c, err := NewTokenClassification(ids, labelsOf(8), 2, weights)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	floats, err := NewData(8, make([]float32, 8*wordsAText), weights, make([]float32, 16))
	if err != nil {
		t.Fatal(err)
	}
	integers, err := NewTypedData(8, fitting.columns.Columns[0], engine.Column{Ints: make([]int32, 8*wordsAText)}, fitting.columns.Columns[2])
	if err != nil {
		t.Fatal(err)
	}
	l, err := Load(cpu.New(cpu.Options{Workers: 1}), textModel(t), fitting.Data)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	group, err := l.Start(cpuSettings(SGD(1)))
	if err != nil {
		t.Fatal(err)
	}
	defer group.Close()
	for want, c := range map[string]*Classification{
		`column 0: sample 7, value 5 is 40: the model's input "ids" takes 0 to 39`:              tokens(func(ids []int32) { ids[7*wordsAText+5] = words }),
		`column 0: sample 1, value 0 is -1: the model's input "ids" takes 0 to 39`:              tokens(func(ids []int32) { ids[wordsAText] = -1 }),
		`column 0: it holds floating-point numbers, the model's input "ids" takes integers`:     {Data: floats, labels: labelsOf(8), classes: 2},
		`column 1: it holds integers, the model's input "weights" takes floating-point numbers`: {Data: integers, labels: labelsOf(8), classes: 2},
		`column 0: sample 0, value 0 is 2147483647: the model's input "ids" takes 0 to 39`:      tokens(func(ids []int32) { ids[0] = 1<<31 - 1 }),
		`column 0: sample 0, value 1 is -2147483648: the model's input "ids" takes 0 to 39`:     tokens(func(ids []int32) { ids[1] = -1 << 31 }),
	} {
		var data *DataError
		if _, err := Load(cpu.New(cpu.Options{}), textModel(t), c.Data); !errors.As(err, &data) || data.Problem != want {
			t.Errorf("loaded, got %v\nwant %s", err, want)
		}
		if err := l.CheckTest(c); !errors.As(err, &data) || data.Problem != want {
			t.Errorf("as a test set, got %v\nwant %s", err, want)
		}
		if _, err := group.Predict(context.Background(), c.Data, 0); !errors.As(err, &data) {
			t.Errorf("predicted, got %v\nwant %s", err, want)
		}
	}
}

// Integers and floating-point numbers of the same bits have different digests, and so do data with an integer more.
func TestDigestOfTypes(t *testing.T) {
	seen := map[[32]byte]int{}
	for i, columns := range [][]engine.Column{
		{{Floats: []float32{0, 0}}}, {{Ints: []int32{0, 0}}}, {{Ints: []int32{0, 1}}}, {{Ints: []int32{0}}, {Ints: []int32{0}}},
		{{Floats: []float32{0}}, {Ints: []int32{0}}}, {{Ints: []int32{0}}, {Floats: []float32{0}}},
	} {
		sum := digest(columns...)
		if before, twice := seen[sum]; twice {
			t.Errorf("columns %d and %d have one digest", before, i)
		}
		seen[sum] = i
	}
}
