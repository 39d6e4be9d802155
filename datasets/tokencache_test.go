package datasets

import (
	"bytes"
	"crypto/sha256"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
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
	got, err := c.decode(c.encode(set))
	if err != nil || !reflect.DeepEqual(got, set) {
		t.Errorf("%+v, error %v, want %+v", got, err, set)
	}
}

// seal appends the right checksum to a file that decode must refuse for another reason.
func seal(body []byte) []byte {
	sum := sha256.Sum256(body)
	return append(slices.Clone(body), sum[:]...)
}

func TestTokenCacheRefuses(t *testing.T) {
	c, set := tinyTokens()
	whole := c.encode(set)
	body := whole[:len(whole)-sha256.Size]
	head := len(c.header())
	other := c
	other.sizes.length = 5
	spoil := func(at int, value byte) []byte {
		b := slices.Clone(body)
		b[at] = value
		return seal(b)
	}
	for _, test := range []struct {
		name string
		file []byte
		want string
	}{
		{"empty", nil, "not tokens of these texts"},
		{"other magic", spoil(0, 'D'), "not tokens of these texts"},
		{"later version", bytes.Replace(whole, []byte("tokens 1"), []byte("tokens 2"), 1), "not tokens of these texts"},
		{"other key", spoil(len(tokenMagic), 0), "not tokens of these texts"},
		{"other sizes", other.encode(set), "not tokens of these texts"},
		{"header only", body[:head], "ends after"},
		{"cut off", whole[:len(whole)-1], "the checksum is wrong"},
		{"a byte changed", flip(slices.Clone(whole), 40), "the checksum is wrong"},
		{"a token less", seal(body[:len(body)-4]), "text 0 has 3 tokens"},
		{"a byte more", seal(append(slices.Clone(body), 0)), "1 bytes too many"},
		{"a count beyond the length", spoil(head+4, 5), "text 0 has 5 tokens"},
		{"a count beyond the file", spoil(head+10, 4), "text 0 has 4 tokens"},
		{"no tokens", seal(slices.Delete(spoil(head+4, 0)[:len(body)], head+12, head+20)), "no token has a weight"},
		{"label", spoil(head+1, 2), "label 1 is 2, want 0 to 1"},
		{"token", spoil(head+12+5, 2), "token 1 is 555, want 0 to 299"},
		{"negative token", spoil(head+12+7, 255), "want 0 to 299"},
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
		got, err := c.decode(c.encode(set))
		if err != nil || !reflect.DeepEqual(got, set) {
			t.Fatalf("%+v, error %v, want %+v", got, err, set)
		}
	})
}

func FuzzTokenCache(f *testing.F) {
	c, set := tinyTokens()
	whole := c.encode(set)
	f.Add(whole[len(c.header()) : len(whole)-sha256.Size])
	f.Fuzz(func(t *testing.T, rest []byte) {
		set, err := c.decode(seal(append(c.header(), rest...)))
		if err != nil {
			checkKind(t, err)
			return
		}
		if err := set.Check(); err != nil {
			t.Error(err)
		}
		if !bytes.Equal(c.encode(set), seal(append(c.header(), rest...))) {
			t.Error("another file has the same tokens")
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
