package wordpiece

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

func vocabulary(t testing.TB) *Vocabulary {
	t.Helper()
	file, err := os.ReadFile("testdata/vocab.txt")
	if err != nil {
		t.Fatal(err)
	}
	v, err := Parse(file)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// pieces returns a text's pieces without the special ones at both ends.
func pieces(v *Vocabulary, text string) []string {
	row := make([]int32, len(text)+2)
	n := v.Encode(row, []byte(text))
	var out []string
	for _, id := range row[1 : n-1] {
		out = append(out, v.pieces[id])
	}
	return out
}

// The first cases are the vectors of BERT's own tokenization_test.py, with letters unchanged.
func TestEncode(t *testing.T) {
	v := vocabulary(t)
	for _, c := range []struct{ text, want string }{
		{"unwanted running", "un ##want ##ed runn ##ing"},
		{"", ""},
		{"unaffable", "un ##aff ##able"},
		{"ah博推zz", "a ##h 博 推 z ##z"},
		{"un\u00adwant\u200bed", "un ##want ##ed"},
		{"un\xffwant\xc3ed", "un ##want ##ed"}, // not UTF-8
		{"un\u00a0want", "un want"},
		{"don't", "don ' t"},
		{"[SEP]", "[ SEP ]"},
		{"##ing", "# # i ##n ##g"},
		{"é e\u0301", "é [UNK]"}, // accents are neither stripped nor composed
		{"Film film FILM", "Film film [UNK]"},
		{strings.Repeat("a", 100) + " the", "a" + strings.Repeat(" ##a", 99) + " the"},
		{strings.Repeat("a", 101) + " the", "[UNK] the"},
		{strings.Repeat("é", 100) + " the", "é" + strings.Repeat(" ##é", 99) + " the"}, // characters, not bytes
	} {
		if got := strings.Join(pieces(v, c.text), " "); got != c.want {
			t.Errorf("%.40q: %s, want %s", c.text, got, c.want)
		}
	}
}

// testdata/README.md says where the vectors are from.
func TestHuggingFace(t *testing.T) {
	v := vocabulary(t)
	file, err := os.Open("testdata/golden.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	n := 0
	for ; lines.Scan(); n++ {
		var c struct {
			Text string
			IDs  []int32
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		row := make([]int32, len(c.IDs)+2)
		used := v.Encode(row, []byte(c.Text))
		if got := row[1 : used-1]; !slices.Equal(got, c.IDs) {
			t.Errorf("%q: %v, want %v", c.Text, got, c.IDs)
		}
	}
	if n < 400 {
		t.Errorf("only %d vectors", n)
	}
}

func TestRows(t *testing.T) {
	v := vocabulary(t)
	for _, c := range []struct {
		text   string
		length int
		want   []string
		used   int
	}{
		{"", 2, []string{"[CLS]", "[SEP]"}, 2},
		{"", 4, []string{"[CLS]", "[SEP]", "[PAD]", "[PAD]"}, 2},
		{"the film", 2, []string{"[CLS]", "[SEP]"}, 2},
		{"the film", 3, []string{"[CLS]", "the", "[SEP]"}, 3},
		{"the film", 4, []string{"[CLS]", "the", "film", "[SEP]"}, 4},
		{"the film", 5, []string{"[CLS]", "the", "film", "[SEP]", "[PAD]"}, 4},
		{"unwanted", 4, []string{"[CLS]", "un", "##want", "[SEP]"}, 4}, // cut within a word
		// The word's last letter makes all of it unknown, even if it doesn't fit.
		{"unwanté\u0301", 4, []string{"[CLS]", "[UNK]", "[SEP]", "[PAD]"}, 3},
	} {
		row := slices.Repeat([]int32{77}, c.length)
		used := v.Encode(row, []byte(c.text))
		var got []string
		for _, id := range row {
			got = append(got, v.pieces[id])
		}
		if !slices.Equal(got, c.want) || used != c.used {
			t.Errorf("%q in %d: %v, %d of them used, want %v, %d", c.text, c.length, got, used, c.want, c.used)
		}
	}
}

// reference is BERT's algorithm in its original steps, each over the whole text.
func reference(vocabulary map[string]bool, text string, length int) []string {
	var clean strings.Builder
	for _, r := range text {
		category := func(tables ...*unicode.RangeTable) bool { return unicode.In(r, tables...) }
		switch {
		case r == '\t', r == '\n', r == '\r', category(unicode.Z):
			clean.WriteString(" ")
		case r == 0xfffd, category(unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs):
		case slices.ContainsFunc([][2]rune{
			{0x4E00, 0x9FFF}, {0x3400, 0x4DBF}, {0x20000, 0x2A6DF}, {0x2A700, 0x2B73F},
			{0x2B740, 0x2B81F}, {0x2B820, 0x2CEAF}, {0xF900, 0xFAFF}, {0x2F800, 0x2FA1F},
		}, func(block [2]rune) bool { return block[0] <= r && r <= block[1] }),
			strings.ContainsRune("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", r), category(unicode.P):
			clean.WriteString(" " + string(r) + " ")
		default:
			clean.WriteRune(r)
		}
	}
	out := []string{"[CLS]"}
	for _, word := range strings.Fields(clean.String()) {
		var split []string
		letters := []rune(word)
		if len(letters) > 100 {
			out = append(out, "[UNK]")
			continue
		}
		for start := 0; start < len(letters); {
			end := len(letters)
			for ; end > start; end-- {
				piece := string(letters[start:end])
				if start > 0 {
					piece = "##" + piece
				}
				if vocabulary[piece] {
					split = append(split, piece)
					break
				}
			}
			if end == start {
				split = []string{"[UNK]"}
				break
			}
			start = end
		}
		out = append(out, split...)
	}
	out = append(out[:min(len(out), length-1)], "[SEP]")
	for len(out) < length {
		out = append(out, "[PAD]")
	}
	return out
}

func set(v *Vocabulary) map[string]bool {
	known := map[string]bool{}
	for _, piece := range v.pieces {
		known[piece] = true
	}
	return known
}

func checkReference(t interface{ Errorf(string, ...any) }, v *Vocabulary, known map[string]bool, text string, length int) {
	row := slices.Repeat([]int32{77}, length)
	used := v.Encode(row, []byte(text))
	var got []string
	for i, id := range row {
		if id < 0 || int(id) >= v.Size() || (id == 0) != (i >= used) {
			t.Errorf("%q: piece %d of %d is number %d", text, i, used, id)
			return
		}
		got = append(got, v.pieces[id])
	}
	if want := reference(known, text, length); !slices.Equal(got, want) {
		t.Errorf("%q in %d: %v, want %v", text, length, got, want)
	}
}

func TestReference(t *testing.T) {
	v := vocabulary(t)
	known := set(v)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(
			rapid.String(),
			rapid.StringOf(rapid.RuneFrom([]rune("abunwted é博推々!'#[] \t\u00a0\u00ad\u0000\ufffd\u2028"))),
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
		).Draw(t, "text")
		checkReference(t, v, known, text, rapid.IntRange(MinLength, 40).Draw(t, "length"))
	})
}

func FuzzEncode(f *testing.F) {
	f.Add("the film was unaffable!", 8)
	f.Add("\xff\u00ad博é\u0301", 3)
	v := vocabulary(f)
	known := set(v)
	f.Fuzz(func(t *testing.T, text string, length int) {
		checkReference(t, v, known, text, MinLength+int(uint(length)%100))
	})
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{"", "line 1 is empty"},
		{"[PAD]\n\n[UNK]\n", "line 2 is empty"},
		{"[PAD]\n[UNK]\n[CLS]\n", "no line is [SEP]"},
		{"[UNK]\n[PAD]\n[CLS]\n[SEP]\n", `the first line is "[UNK]", want [PAD]`},
		{"[PAD]\n[UNK]\n[CLS]\n[SEP]\na\n##a\nb\n##a\n", `"##a" is on the lines 6 and 8`},
		{"[PAD]\n\xff\n", "not UTF-8"},
		{strings.Repeat("x\n", maxPieces+1), "1048577 lines, want at most 1048576"},
	} {
		if _, err := Parse([]byte(c.file)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.30q: error %v, want one with %q", c.file, err, c.want)
		}
	}
	v, err := Parse([]byte("[PAD]\r\n[UNK]\r\n[CLS]\r\n[SEP]\r\na\r\n##a"))
	if err != nil || v.Size() != 6 || v.pieces[5] != "##a" {
		t.Errorf("%v, error %v", v, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("[PAD]\n[UNK]\n[CLS]\n[SEP]\na\n##a\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		v, err := Parse(file)
		if err != nil {
			return
		}
		if lines := bytes.Count(bytes.TrimSuffix(file, []byte("\n")), []byte("\n")) + 1; v.Size() != lines {
			t.Errorf("%d pieces from %d lines", v.Size(), lines)
		}
		checkReference(t, v, set(v), "a##a [PAD] aa", 9)
	})
}

func TestShortRowPanics(t *testing.T) {
	defer func() {
		if got, want := fmt.Sprint(recover()), "wordpiece: a row of 1, want at least 2"; got != want {
			t.Errorf("panic %q, want %q", got, want)
		}
	}()
	vocabulary(t).Encode(make([]int32, 1), nil)
}

// realVocabulary returns the vocabulary of bert-base-cased, and some reviews of the IMDB set.
func realVocabulary(t testing.TB) (v *Vocabulary, reviews [][]byte) {
	t.Helper()
	dir := filepath.Join(os.Getenv("DPTRAIN_DATA"), "imdb")
	file, err := os.ReadFile(filepath.Join(dir, "vocab.txt"))
	if os.Getenv("DPTRAIN_DATA") == "" || err != nil {
		t.Skip("needs imdb/vocab.txt in $DPTRAIN_DATA")
	}
	v, err = Parse(file)
	if err != nil {
		t.Fatal(err)
	}
	names, _ := filepath.Glob(filepath.Join(dir, "aclImdb", "test", "pos", "*7_8.txt"))
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		reviews = append(reviews, text)
	}
	return v, reviews
}

// The tokens are Hugging Face's for bert-base-cased: testdata/README.md.
func TestPublishedVocabulary(t *testing.T) {
	v, reviews := realVocabulary(t)
	known := set(v)
	for _, text := range reviews {
		checkReference(t, v, known, string(text), 256)
	}
	row := make([]int32, 16)
	used := v.Encode(row, []byte("Hello, wörld! naïve"))
	want := []int32{101, 8667, 117, 192, 19593, 17670, 1181, 106, 9468, 28203, 2707, 102, 0, 0, 0, 0}
	if v.Size() != 28_996 || used != 12 || !slices.Equal(row, want) {
		t.Errorf("%d pieces, row %v, %d used", v.Size(), row, used)
	}
}

func BenchmarkEncode(b *testing.B) {
	v, reviews := realVocabulary(b)
	if len(reviews) == 0 {
		b.Skip("needs imdb/aclImdb in $DPTRAIN_DATA")
	}
	row := make([]int32, 256)
	for b.Loop() {
		for _, text := range reviews {
			v.Encode(row, text)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(reviews)), "ns/text")
}

// Random texts miss the ends of blocks of characters. These have a character on both sides of each end, and all
// characters of the blocks in which BERT's rules change most often.
func TestBordersOfBlocks(t *testing.T) {
	v := vocabulary(t)
	known := set(v)
	var runes []rune
	for _, border := range []rune{0x3400, 0x4DBF, 0x4E00, 0x9FFF, 0xF900, 0xFAFF, 0x20000, 0x2A6DF, 0x2A700, 0x2B73F, 0x2B740, 0x2B81F, 0x2B820, 0x2CEAF, 0x2F800, 0x2FA1F} {
		runes = append(runes, border-1, border, border+1)
	}
	for _, block := range [][2]rune{{0, 0x3ff}, {0x2000, 0x206f}, {0x3000, 0x30ff}, {0xff00, 0xffff}} {
		for r := block[0]; r <= block[1]; r++ {
			runes = append(runes, r)
		}
	}
	for _, r := range runes {
		checkReference(t, v, known, "a"+string(r)+"b", 8)
	}
}

// A vocabulary shares no memory with the file that it was parsed from.
func TestParseCopies(t *testing.T) {
	file := []byte("[PAD]\n[UNK]\n[CLS]\n[SEP]\na\nb\n")
	v, err := Parse(file)
	if err != nil {
		t.Fatal(err)
	}
	file[24] = 'c'
	row := make([]int32, 4)
	if v.Encode(row, []byte("a b")); !slices.Equal(row, []int32{2, 4, 5, 3}) {
		t.Errorf("after the file's bytes changed, \"a b\" is %v", row)
	}
}
