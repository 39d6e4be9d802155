package datasets

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/dptrain/dptrain/internal/datasets/wordpiece"
)

// The IMDB set's files and counts.
const (
	imdbClass  = 12_500 // reviews of one class in one split
	imdbLength = 256    // default number of tokens of a review
	imdbPieces = 28_996 // in the vocabulary
	vocabulary = "vocab.txt"
)

// imdbFolders are the folders of reviews in the order of their classes, first for training, then for the test.
var imdbFolders = []string{"train/neg", "train/pos", "test/neg", "test/pos"}

// imdb reads the archive, or a small one of the same form in tests.
type imdb struct {
	class int // reviews of one class in one split
}

// imdbEntry returns the published Large Movie Review Dataset, without its unlabelled reviews, and the vocabulary of
// bert-base-cased.
func imdbEntry() *entry {
	set := imdb{class: imdbClass}
	return &entry{
		info: Info{
			Name:        "imdb",
			Kind:        KindTexts,
			Description: "film reviews for and against, as tokens of bert-base-cased",
			Train:       2 * imdbClass, Test: 2 * imdbClass,
			SampleShape: []int{imdbLength}, Classes: 2, Vocabulary: imdbPieces,
			ClassNames: []string{"negative", "positive"},
			Licence:    "reviews: none stated, the authors ask to be cited; vocabulary: Apache 2.0",
			Source:     "https://ai.stanford.edu/~amaas/data/sentiment/",
			Citation:   "Maas, Daly, Pham, Huang, Ng and Potts: Learning word vectors for sentiment analysis, 2011",
		},
		files: []file{
			{
				name: "aclImdb_v1.tar.gz", size: 84_125_825,
				// PyTorch has this sum too; no SHA-256 is published.
				sum:  md5Prefix + "7c2ac02c03563afcf9b574c7e56c153a",
				urls: []string{"https://ai.stanford.edu/~amaas/data/sentiment/aclImdb_v1.tar.gz"},
				tree: set.tree(),
			},
			{
				name: vocabulary, size: 213_450,
				sum:  sha256Prefix + "eeaa9875b23b04b4c54ef759d03db9d1ba1554838f8fb26c5d96fa551df93d02",
				urls: []string{"https://huggingface.co/bert-base-cased/resolve/main/vocab.txt"},
			},
		},
		load: set.load,
	}
}

func (d imdb) tree() *tree {
	return &tree{
		name: "aclImdb",
		dirs: imdbFolders,
		wanted: func(member string) bool {
			_, _, ok := reviewNumber(member)
			return ok
		},
		check: func(ctx context.Context, src *source) error {
			_, err := d.read(ctx, src)
			return err
		},
	}
}

// reviewNumber splits a review's path into its folder and its number. The name has number and stars, such as
// 17_8.txt. ok is false for other files.
func reviewNumber(member string) (folder string, number int, ok bool) {
	folder, name := path.Split(member)
	folder = strings.TrimSuffix(folder, "/")
	base, isText := strings.CutSuffix(name, ".txt")
	id, stars, twoParts := strings.Cut(base, "_")
	if !isText || !twoParts || !slices.Contains(imdbFolders, folder) {
		return "", 0, false
	}
	number, err := strconv.Atoi(id)
	if _, starsErr := strconv.ParseUint(stars, 10, 8); err != nil || starsErr != nil || number < 0 {
		return "", 0, false
	}
	return folder, number, true
}

// review is one of the texts.
type review struct {
	name string // of its file
	text []byte
}

// reviews are the reviews of each of imdbFolders, sorted by file name byte by byte: 0_9.txt, 10000_8.txt, 10001_10.txt.
// An archive and its unpacked folder give the same order.
type reviews [4][]review

// load returns the reviews as tokens.
func (d imdb) load(ctx context.Context, s *store) (*Set, error) {
	pieces, err := s.vocabulary(ctx)
	if err != nil {
		return nil, err
	}
	src, err := s.source(ctx, s.files[0])
	if err != nil {
		return nil, err
	}
	defer src.close()
	all, err := d.read(ctx, src)
	if err != nil {
		return nil, err
	}
	t := tokeniser{Vocabulary: pieces, length: s.textLength, total: 4 * d.class, progress: s.tokenising}
	set := &Set{Name: s.info.Name, Edition: src.edition()}
	if set.Train, err = t.split(ctx, all[0], all[1]); err != nil {
		return nil, err
	}
	if set.Test, err = t.split(ctx, all[2], all[3]); err != nil {
		return nil, err
	}
	return set, nil
}

// vocabulary reads the second file.
func (s *store) vocabulary(ctx context.Context) (*wordpiece.Vocabulary, error) {
	path, contents, err := s.readFile(ctx, s.files[1])
	if err != nil {
		return nil, err
	}
	pieces, err := wordpiece.Parse(contents)
	if err != nil {
		return nil, invalidf("%s: %v", path, err)
	}
	return pieces, nil
}

// read reads all reviews. Each folder must have each number from 0 on once.
func (d imdb) read(ctx context.Context, src *source) (*reviews, error) {
	var all reviews
	var found [4][]bool
	for i := range all {
		all[i], found[i] = make([]review, 0, d.class), make([]bool, d.class)
	}
	var text bytes.Buffer
	err := src.each(ctx, func(member string, in io.Reader) error {
		folder, number, _ := reviewNumber(member)
		i := slices.Index(imdbFolders, folder)
		switch {
		case number >= d.class:
			return invalidf("number %d, want 0 to %d", number, d.class-1)
		case found[i][number]:
			return invalidf("%s has the number %d twice", folder, number)
		}
		found[i][number] = true
		text.Reset()
		if _, err := text.ReadFrom(in); err != nil {
			return unpackError(err)
		}
		all[i] = append(all[i], review{path.Base(member), bytes.Clone(text.Bytes())})
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i, folder := range imdbFolders {
		if number := slices.Index(found[i], false); number >= 0 {
			return nil, invalidf("%s: %s: the review with the number %d is missing", src.path, folder, number)
		}
		slices.SortFunc(all[i], func(a, b review) int { return cmp.Compare(a.name, b.name) })
	}
	return &all, nil
}
