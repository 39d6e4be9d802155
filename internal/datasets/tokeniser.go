package datasets

import (
	"context"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/dptrain/dptrain/internal/datasets/wordpiece"
)

// tokeniser converts texts to the tokens of splits, several at a time.
type tokeniser struct {
	*wordpiece.Vocabulary
	length      int // of a text, in tokens
	done, total int // texts
	progress    func(done, total int)
}

// split returns the texts of each class in turn as tokens. The result doesn't depend on the number of workers.
func (t *tokeniser) split(ctx context.Context, classes ...[]review) (Split, error) {
	texts := slices.Concat(classes...)
	s := Split{
		N: len(texts), SampleShape: []int{t.length}, Vocabulary: t.Size(), Classes: len(classes),
		Tokens: make([]int32, len(texts)*t.length),
		Labels: make([]int32, 0, len(texts)),
	}
	for class, reviews := range classes {
		s.Labels = append(s.Labels, slices.Repeat([]int32{int32(class)}, len(reviews))...)
	}
	used := make([]int32, len(texts)) // real tokens of each text
	const block = 1000                // texts between two calls of progress
	for first := 0; first < len(texts); first += block {
		last := min(first+block, len(texts))
		group, ctx := errgroup.WithContext(ctx)
		workers := runtime.GOMAXPROCS(0)
		for w := range workers {
			group.Go(func() error {
				for i := first + w; i < last && ctx.Err() == nil; i += workers {
					used[i] = int32(t.Encode(s.Tokens[i*t.length:][:t.length], texts[i].text))
				}
				return ctx.Err()
			})
		}
		if err := group.Wait(); err != nil {
			return Split{}, err
		}
		t.done += last - first
		t.progress(t.done, t.total)
	}
	s.setWeights(used)
	return s, nil
}

// setWeights sets the weights of texts with the given numbers of real tokens.
func (s *Split) setWeights(used []int32) {
	length := s.SampleSize()
	s.Weights = make([]float32, s.N*length)
	for i, n := range used {
		weight := 1 / float32(n)
		row := s.Weights[i*length:][:n]
		for j := range row {
			row[j] = weight
		}
	}
}
