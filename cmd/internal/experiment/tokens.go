package experiment

import (
	"context"

	"github.com/dptrain/dptrain/datasets/table"
	"github.com/dptrain/dptrain/internal/datasets"
	"github.com/dptrain/dptrain/train"
)

// tokenise and words are [datasets.Tokenise] and the size of its vocabulary, which tests replace.
var (
	tokenise = datasets.Tokenise
	words    = func() int {
		info, err := datasets.Describe("imdb")
		if err != nil {
			panic(err) // the set's name is a constant
		}
		return info.Vocabulary
	}
)

// tokenised has the texts of a table's rows as tokens, made like data set imdb's: see package datasets. It is nil for a
// table of other columns.
type tokenised struct {
	length, vocabulary int
	tokens             []int32   // rows × length
	weights            []float32 // rows × length
}

// wordsOf returns the size of the vocabulary if a schema is of texts, and otherwise 0.
func wordsOf(s *table.Schema) int {
	if s.Text() == nil {
		return 0
	}
	return words()
}

// tokensOf returns the tokens of rows, or nil if they aren't texts. It downloads the vocabulary if it is missing, even
// without any row.
func tokensOf(ctx context.Context, s *table.Schema, rows *table.Samples, f Follower) (*tokenised, error) {
	text := s.Text()
	if text == nil {
		return nil, nil
	}
	split, err := tokenise(ctx, rows.Texts, datasets.Options{TextLength: text.Length, Progress: Downloads(f)})
	if err != nil {
		return nil, err
	}
	if split.Vocabulary != words() {
		return nil, otherVocabulary(split.Vocabulary, words())
	}
	return &tokenised{text.Length, split.Vocabulary, split.Tokens, split.Weights}, nil
}

func otherVocabulary(has, model int) error {
	return inputf("the vocabulary has %d words, and the model %d; it was trained with another vocabulary", has, model)
}

// size returns the size of the vocabulary, or 0.
func (t *tokenised) size() int {
	if t == nil {
		return 0
	}
	return t.vocabulary
}

// columns returns rows as a model's inputs: tokens and their weights, or numbers. It keeps the memory.
func (t *tokenised) columns(rows *table.Samples) []train.Column {
	if t == nil {
		return []train.Column{{Floats: rows.Values}}
	}
	return []train.Column{{Ints: t.tokens}, {Floats: t.weights}}
}

// only returns a copy of the tokens of the rows at the given positions.
func (t *tokenised) only(rows []int32) *tokenised {
	if t == nil {
		return nil
	}
	out := &tokenised{length: t.length, vocabulary: t.vocabulary}
	for _, row := range rows {
		from, to := int(row)*t.length, (int(row)+1)*t.length
		out.tokens, out.weights = append(out.tokens, t.tokens[from:to]...), append(out.weights, t.weights[from:to]...)
	}
	return out
}
