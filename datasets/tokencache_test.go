package datasets

import (
	"crypto/sha256"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/internal/safetensors"
)

// tinyTokens is a cache and the set in it: three training texts and one test text of up to 4 tokens.
func tinyTokens() (tokenCache, *Set) {
	c := tokenCache{key: sha256.Sum256([]byte("texts")), sizes: tokenSizes{vocabulary: 300, length: 4, train: 3, test: 1}}
	split := func(labels []int32, used []int32, tokens ...int32) Split {
		s := Split{
			N: len(labels), SampleShape: []int{4}, Tokens: tokens, Vocabulary: 300, Labels: labels, Classes: 2,
		}
		s.setWeights(used)
		return s
	}
	return c, &Set{
		Train: split([]int32{0, 1, 1}, []int32{2, 4, 1}, 1, 299, 0, 0, 5, 6, 7, 8, 9, 0, 0, 0),
		Test:  split([]int32{0}, []int32{3}, 1, 0, 2, 0), // 0 may be a real token
	}
}

func TestTokenCache(t *testing.T) {
	c, set := tinyTokens()
	if err := set.Check(); err != nil {
		t.Fatal(err)
	}
	got, err := c.decode(encoded(t, c, set))
	if err != nil || !reflect.DeepEqual(got, set) {
		t.Errorf("%+v, error %v, want %+v", got, err, set)
	}
}

func encoded(t testing.TB, c tokenCache, set *Set) []byte {
	t.Helper()
	file, err := c.encode(set)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func TestTokenCacheRefuses(t *testing.T) {
	c, set := tinyTokens()
	whole := encoded(t, c, set)
	other, foreign := c, c
	other.sizes.length, foreign.key[0] = 5, 0
	// spoil returns a file with the right checksum, in which one value of a tensor is another, or one more.
	spoil := func(tensor, at int, value float32) []byte {
		tensors, err := safetensors.Unseal(c.kind(), whole, &struct{}{})
		if err != nil {
			t.Fatal(err)
		}
		data := append(tensors[tensor].Data, value)
		if at < len(data)-1 {
			data[at], data = value, data[:len(data)-1]
		}
		tensors[tensor].Data, tensors[tensor].Shape = data, []int{len(data)}
		file, err := safetensors.Seal(c.kind(), struct{}{}, tensors)
		if err != nil {
			t.Fatal(err)
		}
		return file
	}
	for _, test := range []struct {
		name string
		file []byte
		want string
	}{
		{"empty", nil, "cut short"},
		{"other key", encoded(t, foreign, set), "checksum differs"},
		{"other sizes", encoded(t, other, set), "checksum differs"},
		{"cut off", whole[:len(whole)-1], "checksum differs"},
		{"a byte changed", flip(slices.Clone(whole), 40), "checksum differs"},
		{"a label more", spoil(0, 4, 0), "not for 4 texts"},
		{"a token more", spoil(2, 10, 0), "1 tokens too many"},
		{"a count beyond the length", spoil(1, 0, 5), "text 0 has 5 tokens"},
		{"a negative count", spoil(1, 0, -1), "text 0 has -1 tokens"},
		{"a count beyond the file", spoil(1, 3, 4), "text 0 has 4 tokens"},
		{"label", spoil(0, 1, 2), "label 1 is 2, want 0 to 1"},
		{"token", spoil(2, 1, 555), "token 1 is 555, want 0 to 299"},
		{"negative token", spoil(2, 1, -1), "want 0 to 299"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := c.decode(test.file)
			checkError(t, err, ErrInvalid, test.want)
		})
	}
}

func TestTokenCacheRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		length := rapid.IntRange(2, 9).Draw(t, "length")
		c := tokenCache{sizes: tokenSizes{vocabulary: 7, length: length}}
		split := func(name string, n int) Split {
			s := Split{N: n, SampleShape: []int{length}, Vocabulary: 7, Classes: 2}
			var used []int32
			for range n {
				k := rapid.IntRange(1, length).Draw(t, "used")
				s.Labels = append(s.Labels, rapid.Int32Range(0, 1).Draw(t, "label"))
				s.Tokens = append(s.Tokens, rapid.SliceOfN(rapid.Int32Range(0, 6), k, k).Draw(t, name)...)
				s.Tokens = append(s.Tokens, make([]int32, length-k)...)
				used = append(used, int32(k))
			}
			s.setWeights(used)
			return s
		}
		c.sizes.train, c.sizes.test = rapid.IntRange(1, 5).Draw(t, "train"), rapid.IntRange(1, 5).Draw(t, "test")
		set := &Set{Train: split("training tokens", c.sizes.train), Test: split("test tokens", c.sizes.test)}
		file, err := c.encode(set)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.decode(file)
		if err != nil || !reflect.DeepEqual(got, set) {
			t.Fatalf("%+v, error %v, want %+v", got, err, set)
		}
	})
}

// A cache for other texts, another vocabulary or another length is never used.
func TestTokenCacheKey(t *testing.T) {
	s, err := tinyIMDBEntry(t, tinyReviews()).store(options(t))
	if err != nil {
		t.Fatal(err)
	}
	key := func(data, vocabulary string) [32]byte {
		return s.tokenCache(tokenSizes{}, []byte(data), []byte(vocabulary)).key
	}
	keys := map[[32]byte]string{}
	for _, c := range [][2]string{{"ab", "cd"}, {"ab", "dc"}, {"ba", "cd"}, {"abc", "d"}, {"", "abcd"}} {
		k := key(c[0], c[1])
		if other, ok := keys[k]; ok {
			t.Errorf("%q has the key of %s", c, other)
		}
		keys[k] = c[0] + " and " + c[1]
	}
}
