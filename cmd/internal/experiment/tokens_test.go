package experiment

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/datasets/table"
	"github.com/dptrain/dptrain/internal/datasets"
)

const fewWords = 50

// withFewWords replaces the vocabulary by one of fewWords, in which a word's token is a hash.
func withFewWords(t *testing.T) (calls *int) {
	t.Helper()
	before, count, calls := tokenise, words, new(int)
	t.Cleanup(func() { tokenise, words = before, count })
	words = func() int { return fewWords }
	tokenise = func(_ context.Context, texts [][]byte, o datasets.Options) (datasets.Split, error) {
		*calls++
		s := datasets.Split{N: len(texts), SampleShape: []int{o.TextLength}, Vocabulary: fewWords}
		for _, text := range texts {
			found := bytes.Fields(text)
			found = found[:min(len(found), o.TextLength-1)]
			row, weights := make([]int32, o.TextLength), make([]float32, o.TextLength)
			row[0], weights[0] = 1, 1/float32(len(found)+1)
			for i, word := range found {
				h := fnv.New32()
				h.Write(word)
				row[i+1], weights[i+1] = int32(2+h.Sum32()%(fewWords-2)), weights[0]
			}
			s.Tokens, s.Weights = append(s.Tokens, row...), append(s.Weights, weights...)
		}
		return s, nil
	}
	return calls
}

func textFiles(t *testing.T) settings.Data {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return settings.Data{
		Train: write("train.csv", "who,review,y\na,a good film,pos\na,bad,neg\nb,\"so, so\",neg\nb,,pos\nb,fine indeed,pos\n"),
		Test:  write("test.csv", "review,y,who\ngood one,pos,z\nno film at all,neg,z\n"),
		Label: "y", Text: "review", Ignore: []string{"who"},
	}
}

// The samples of texts are their tokens, whether a run keeps all rows or some of each unit, and the model's description
// names the vocabulary.
func TestTextsOfFilesAreTokens(t *testing.T) {
	withFewWords(t)
	d := textFiles(t)
	e := experiment(t, "model=embedding")
	e.Dataset, e.Data, e.TextLength = settings.Files, d, 6
	s, files, err := describe(e, true)
	if err != nil {
		t.Fatal(err)
	}
	l, err := files.load(t.Context(), d, s, silent{})
	if err != nil {
		t.Fatal(err)
	}
	if l.train.Samples() != 5 || l.model.Vocabulary != fewWords || !slices.Equal(l.model.Shape, []int{6}) {
		t.Errorf("%d samples, model %+v", l.train.Samples(), l.model)
	}
	whole, err := memoryOf(e, s, false)
	if err != nil || whole < programBytes {
		t.Errorf("memory %v, %v", whole, err)
	}

	e.Data.Unit, e.Data.RowsPerUnit, e.Data.Ignore = "who", 3, nil
	if s, files, err = describe(e, true); err != nil {
		t.Fatal(err)
	}
	units, err := files.load(t.Context(), e.Data, s, silent{})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := units.forKey([32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	if kept.train.Digest() != l.train.Digest() {
		t.Error("with three rows of each unit all are kept, and they differ from the file's rows")
	}
	units.units.most = 1
	if kept, err = units.forKey([32]byte{1}); err != nil || kept.train.Samples() != 2 {
		t.Errorf("%d rows of two units, %v", kept.train.Samples(), err)
	}
}

// A vocabulary that can't be had is an error before the private rows are read.
func TestVocabularyComesFirst(t *testing.T) {
	withFewWords(t)
	d := textFiles(t)
	e := experiment(t, "model=embedding")
	e.Dataset, e.Data = settings.Files, d
	s, files, err := describe(e, true)
	if err != nil {
		t.Fatal(err)
	}
	gone := errors.New("no network")
	texts := 0
	tokenise = func(_ context.Context, t [][]byte, _ datasets.Options) (datasets.Split, error) {
		texts += len(t)
		return datasets.Split{}, gone
	}
	if _, err := files.load(t.Context(), d, s, silent{}); !errors.Is(err, gone) || texts != 2 {
		t.Errorf("%v after %d texts, want 2 public ones", err, texts)
	}
}

// A model.json that says texts in one place and numbers in another is refused, as is another length.
func TestTextModelsAreChecked(t *testing.T) {
	withFewWords(t)
	d := textFiles(t)
	for _, c := range []struct {
		column     string
		vocabulary int
		shape      []int
		ok         bool
	}{
		{`{"name":"review","text":{"length":6}}`, fewWords, []int{6}, true},
		{`{"name":"review","text":{"length":6}}`, 0, []int{6}, false},
		{`{"name":"review","text":{"length":6}}`, fewWords, []int{7}, false},
		{`{"name":"review","text":{"length":6}}`, fewWords + 1, []int{6}, false},
		{`{"name":"review"}`, fewWords, []int{1}, false},
	} {
		length := c.shape[0]
		if !c.ok && strings.Contains(c.column, "text") {
			length = 6
		}
		input, err := json.Marshal(map[string]any{"table": map[string]any{
			"label":   map[string]any{"name": "y", "task": "classification", "classes": []string{"neg", "pos"}},
			"columns": []json.RawMessage{json.RawMessage(c.column)}, "shape": []int{length},
		}})
		if err != nil {
			t.Fatal(err)
		}
		r := &Released{Model: release.Model{Dataset: settings.Files, Network: "embedding", Shape: c.shape, Vocabulary: c.vocabulary, Outputs: 2, Task: "classification", Classes: []string{"neg", "pos"}, Input: input}}
		rows, err := r.Read(t.Context(), d.Train, table.Testing, silent{})
		if (err == nil) != c.ok || c.ok && rows.Data.Samples() != 5 {
			t.Errorf("%+v: %v", c, err)
		}
		if !c.ok {
			continue
		}
		lines := filepath.Join(t.TempDir(), "new.txt")
		if err := os.WriteFile(lines, []byte("one\ntwo films\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if rows, _, err := r.ReadFiles(t.Context(), []string{lines}, table.Predicting, silent{}); err != nil || rows.Data.Samples() != 2 {
			t.Errorf("a text file: %v", err)
		}
		if _, err := r.Read(t.Context(), lines, table.Testing, silent{}); err == nil {
			t.Error("a text file has no labels to evaluate, and is no error")
		}
	}
}
