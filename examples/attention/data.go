package main

import (
	"math/rand/v2"

	"github.com/dptrain/dptrain/train"
)

// texts returns n texts with the animals 1 and 2 and the colours 3 and 4 among other words.
func texts(n int, seed uint64) *train.Classification {
	draw := rand.New(rand.NewPCG(seed, 0))
	ids, labels := make([]int32, n*tokens), make([]int32, n)
	for i := range labels {
		text, places := ids[i*tokens:][:tokens], draw.Perm(tokens)
		for k := range text {
			text[k] = int32(5 + draw.IntN(vocabulary-5))
		}
		text[places[0]], text[places[1]] = int32(1+draw.IntN(2)), int32(3+draw.IntN(2))
		if places[0] < places[1] {
			labels[i] = 1
		}
	}
	return must(train.NewTokenClassification(ids, labels, 2))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
