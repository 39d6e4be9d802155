package datasets_test

import (
	"testing"

	"github.com/dptrain/dptrain/datasets"
	"github.com/dptrain/dptrain/train"
)

// The two parts become training's data sets, with the digests of sets made by hand.
func TestSetsAreClassified(t *testing.T) {
	ids, weights, labels := []int32{4, 5, 6, 0}, []float32{0.5, 0.5, 1, 0}, []int32{1, 0}
	images := datasets.Split{N: 2, SampleShape: []int{2}, Samples: []float32{1, 2, 3, 4}, Labels: labels, Classes: 2}
	texts := datasets.Split{N: 2, SampleShape: []int{2}, Tokens: ids, Weights: weights, Vocabulary: 7, Labels: labels, Classes: 2}
	training, test, err := (&datasets.Set{Train: images, Test: texts}).Classification()
	if err != nil {
		t.Fatal(err)
	}
	byHand, err := train.NewClassification([]float32{1, 2, 3, 4}, labels, 2)
	if err != nil || training.Digest() != byHand.Digest() {
		t.Errorf("images: other data, %v", err)
	}
	byHand, err = train.NewTokenClassification(ids, labels, 2, weights)
	if err != nil || test.Digest() != byHand.Digest() {
		t.Errorf("texts: other data, %v", err)
	}
	images.Labels[0] = 2
	if _, _, err := (&datasets.Set{Train: texts, Test: images}).Classification(); err == nil {
		t.Error("label 2 of two classes is taken")
	}
}
