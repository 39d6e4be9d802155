package main

import (
	"context"

	"github.com/dptrain/dptrain/datasets"
	"github.com/dptrain/dptrain/train"
)

// unknown stands for padding and for rare words. Ids are those of BERT's vocabulary, which is public, and has frequent
// words first.
const unknown = 100

// reviews returns the first words of IMDB's reviews, and of every 25th of its test set.
func reviews() (*train.Data, *train.Measured) {
	const beside = 2 // [CLS] and [SEP]
	set := must(datasets.Open(context.Background(), "imdb", datasets.Options{TextLength: tokens + beside}))
	return sequences(set.Train, 1), must(train.NewScored(sequences(set.Test, 25), train.MeasureFunc("accuracy of words", accuracy)))
}

// sequences returns words, the words that follow them, and a mask of these: 0 for unknown ones.
func sequences(s datasets.Split, every int) *train.Data {
	var ids, next []int32
	var mask []float32
	for i := 0; i < s.N; i += every {
		for t := range tokens {
			word, follows, weight := known(s.Tokens[i*s.SampleSize()+t]), known(s.Tokens[i*s.SampleSize()+t+1]), float32(1)
			if follows == unknown {
				weight = 0
			}
			ids, next, mask = append(ids, word), append(next, follows), append(mask, weight)
		}
	}
	return must(train.NewTypedData(len(ids)/tokens, train.Column{Ints: ids}, train.Column{Ints: next}, train.Column{Floats: mask}))
}

func known(word int32) int32 {
	if word == 0 || word >= vocabulary {
		return unknown
	}
	return word
}

// accuracy returns the share of known words that are foretold.
func accuracy(outputs []float32, labels train.Labels) float64 {
	var right, all float64
	for i, weight := range labels.Columns[2].Floats {
		best, row := 0, outputs[i*vocabulary:(i+1)*vocabulary]
		for k, v := range row {
			if v > row[best] {
				best = k
			}
		}
		if all += float64(weight); best == int(labels.Columns[1].Ints[i]) {
			right += float64(weight)
		}
	}
	return right / all
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
