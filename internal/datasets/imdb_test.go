package datasets

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/long"
)

// tinyIMDB has three reviews in each folder.
var tinyIMDB = imdb{class: 3}

// tinyVocabulary has the pieces of tinyReviews.
const tinyVocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\nbad\ngood\nfilm\n.\n##ly\n"

func tinyReviews() map[string]string {
	return map[string]string{
		"train/neg/0_1.txt": "bad film", "train/neg/1_4.txt": "badly", "train/neg/2_2.txt": "",
		"train/pos/0_10.txt": "good film.", "train/pos/1_7.txt": "good\xff", "train/pos/2_8.txt": "film good film good film",
		"test/neg/0_3.txt": "bad", "test/neg/1_3.txt": "bad bad", "test/neg/2_3.txt": "bad bad bad",
		"test/pos/0_9.txt": "good", "test/pos/1_9.txt": "Großartig!", "test/pos/2_9.txt": " \n\u00a0",
	}
}

func tinyIMDBEntry(t testing.TB, files map[string]string) *entry {
	e := packed("tiny-imdb", tinyArchive(t, "aclImdb", files), tinyIMDB.tree(), nil)
	e.files[0].tree.sums = nil
	sum := sha256.Sum256([]byte(tinyVocabulary))
	e.files = append(e.files, file{name: vocabulary, size: int64(len(tinyVocabulary)), sum: Checksum(sha256Prefix + hex.EncodeToString(sum[:]))})
	e.info.Kind, e.load = KindTexts, tinyIMDB.load
	return e
}

func checkTinyIMDB(t *testing.T, set *Set, err error, edition State) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if set.Name != "tiny-imdb" || set.Edition != edition {
		t.Errorf("set %s, edition %q, want %q", set.Name, set.Edition, edition)
	}
	for name, c := range map[string]struct {
		split *Split
		want  string
	}{
		"training": {&set.Train, "0: 2 4 6 3 0 | 0: 2 4 8 3 0 | 0: 2 3 0 0 0 | 1: 2 5 6 7 3 | 1: 2 5 3 0 0 | 1: 2 6 5 6 3"},
		"test":     {&set.Test, "0: 2 4 3 0 0 | 0: 2 4 4 3 0 | 0: 2 4 4 4 3 | 1: 2 5 3 0 0 | 1: 2 1 1 3 0 | 1: 2 3 0 0 0"},
	} {
		var rows []string
		for i := range c.split.N {
			rows = append(rows, fmt.Sprintf("%d: %s", c.split.Labels[i], strings.Trim(fmt.Sprint(c.split.Tokens[5*i:][:5]), "[]")))
		}
		if got := strings.Join(rows, " | "); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	if got, want := set.Train.Weights[5:10], []float32{1. / 4, 1. / 4, 1. / 4, 1. / 4, 0}; !slices.Equal(got, want) {
		t.Errorf("weights %v, want %v", got, want)
	}
	if set.Train.Vocabulary != 9 {
		t.Errorf("a vocabulary of %d, want 9", set.Train.Vocabulary)
	}
}

func TestIMDBArchiveAndFolder(t *testing.T) {
	e, o := tinyIMDBEntry(t, tinyReviews()), options(t)
	o.Dir, o.TextLength = t.TempDir(), 5
	var progress []string
	o.Progress = func(p Progress) { progress = append(progress, fmt.Sprint(p)) }
	folder := filepath.Join(o.Dir, "tiny-imdb")
	open := func(edition State) {
		t.Helper()
		progress = nil
		set, err := e.open(t.Context(), o)
		checkTinyIMDB(t, set, err, edition)
		want := []string{"{tiny-imdb tokenising reviews 6 12}", "{tiny-imdb tokenising reviews 12 12}"}
		if !slices.Equal(progress, want) {
			t.Errorf("progress %v, want %v", progress, want)
		}
	}
	writeTree(t, folder, map[string]string{
		"tiny-imdb.tar.gz": string(tinyArchive(t, "aclImdb", tinyReviews())), vocabulary: tinyVocabulary,
	})
	open(OK)

	if err := os.Remove(filepath.Join(folder, "tiny-imdb.tar.gz")); err != nil {
		t.Fatal(err)
	}
	writeTree(t, filepath.Join(folder, "aclImdb"), tinyReviews())
	writeTree(t, filepath.Join(folder, "aclImdb"), map[string]string{
		"README": "!", "train/pos/._0_10.txt": "!", "train/pos/x_1.txt": "!", "train/unsup/0_0.txt": "!", "train/urls_pos.txt": "!",
	})
	open(Unverified)
	files, err := e.verifyFiles(t.Context(), o)
	if err != nil || len(files) != 2 || files[0].State != Unverified || files[1].State != OK {
		t.Errorf("status %+v, error %v", files, err)
	}
}

func TestIMDBRefuses(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(map[string]string)
		want  string
	}{
		{"missing", func(f map[string]string) { delete(f, "train/pos/1_7.txt") }, "train/pos: the review with the number 1 is missing"},
		{"empty folder", func(f map[string]string) {
			maps.DeleteFunc(f, func(name, _ string) bool { return strings.HasPrefix(name, "test/neg/") })
		}, "test/neg: the review with the number 0 is missing"},
		{"twice", func(f map[string]string) { f["train/pos/1_8.txt"] = "good" }, "train/pos has the number 1 twice"},
		{"too many", func(f map[string]string) { f["train/pos/3_8.txt"] = "good" }, "train/pos/3_8.txt: number 3, want 0 to 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := tinyReviews()
			c.spoil(files)
			o := options(t)
			o.Dir = t.TempDir()
			writeTree(t, filepath.Join(o.Dir, "tiny-imdb"), map[string]string{vocabulary: tinyVocabulary})
			writeTree(t, filepath.Join(o.Dir, "tiny-imdb", "aclImdb"), files)
			e := tinyIMDBEntry(t, files)
			_, err := e.open(t.Context(), o)
			checkError(t, err, ErrInvalid, c.want)
			status, err := e.verifyFiles(t.Context(), o)
			if err != nil || status[0].State != Corrupt || !strings.Contains(status[0].Note, c.want) {
				t.Errorf("status %+v, error %v", status, err)
			}
			writeTree(t, filepath.Join(o.Dir, "tiny-imdb"), map[string]string{"tiny-imdb.tar.gz": string(tinyArchive(t, "aclImdb", files))})
			_, err = e.open(t.Context(), o)
			checkError(t, err, ErrInvalid, c.want)
		})
	}
}

func TestTextLengthRefused(t *testing.T) {
	for _, length := range []int{-1, 1, maxTextLength + 1} {
		o := options(t)
		o.TextLength = length
		if _, err := Open(t.Context(), "imdb", o); err == nil || !strings.Contains(err.Error(), "want 2 to 16384") {
			t.Errorf("length %d: error %v", length, err)
		}
	}
}

func TestPublishedIMDB(t *testing.T) {
	long.SkipRace(t, "it runs nothing side by side")
	skipWithout(t, "imdb")
	set, err := Open(t.Context(), "imdb", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if set.Train.N != 25_000 || set.Test.N != 25_000 || set.Train.Vocabulary != 28_996 || set.Train.SampleSize() != 256 {
		t.Errorf("%d training and %d test reviews of %d tokens, a vocabulary of %d",
			set.Train.N, set.Test.N, set.Train.SampleSize(), set.Train.Vocabulary)
	}
	for name, s := range map[string]*Split{"training": &set.Train, "test": &set.Test} {
		if pos := slices.Index(s.Labels, 1); pos != 12_500 || slices.Contains(s.Labels[pos:], 0) {
			t.Errorf("%s: the first review for a film is number %d", name, pos)
		}
	}
	// 0_3.txt in train/neg begins "Story of a man who has unnatural feelings for a pig."; the numbers are Hugging
	// Face's.
	if got, want := set.Train.Tokens[:8], []int32{101, 5145, 1104, 170, 1299, 1150, 1144, 25126}; !slices.Equal(got, want) {
		t.Errorf("the first tokens are %v, want %v", got, want)
	}
}
