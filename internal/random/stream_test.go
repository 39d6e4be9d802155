package random

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"golang.org/x/crypto/chacha20"
	"pgregory.net/rapid"
)

var _ rand.Source = (*Stream)(nil)

// The vectors of RFC 8439 (June 2018), appendix A.1, numbers 1 to 5, and the first block of section 2.4.2's example:
// the vectors whose nonce an ID can have (bytes 1 to 3 zero).
func TestRFC8439(t *testing.T) {
	tests := []struct {
		name    string
		key     string
		id      ID
		counter uint64
		block   string
	}{
		{
			"A.1 #1", "0000000000000000000000000000000000000000000000000000000000000000", ID{}, 0,
			"76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7" +
				"da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586",
		},
		{
			"A.1 #2", "0000000000000000000000000000000000000000000000000000000000000000", ID{}, 1,
			"9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed" +
				"29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f",
		},
		{
			"A.1 #3", "0000000000000000000000000000000000000000000000000000000000000001", ID{}, 1,
			"3aeb5224ecf849929b9d828db1ced4dd832025e8018b8160b82284f3c949aa5a" +
				"8eca00bbb4a73bdad192b5c42f73f2fd4e273644c8b36125a64addeb006c13a0",
		},
		{
			"A.1 #4", "00ff000000000000000000000000000000000000000000000000000000000000", ID{}, 2,
			"72d54dfbf12ec44b362692df94137f328fea8da73990265ec1bbbea1ae9af0ca" +
				"13b25aa26cb4a648cb9b9d1be65b2c0924a66c54d545ec1b7374f4872e99f096",
		},
		{
			"A.1 #5", "0000000000000000000000000000000000000000000000000000000000000000", ID{Step: 0x02000000}, 0,
			"c2c64d378cd536374ae204b9ef933fcd1a8b2288b3dfa49672ab765b54ee27c7" +
				"8a970e0e955c14f3a88e741b97c286f75f8fc299e8148362fa198a39531bed6d",
		},
		{
			"2.4.2", "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", ID{Trial: 0x4a000000}, 1,
			"224f51f3401bd9e12fde276fb8631ded8c131f823d2c06e27e4fcaec9ef3cf78" +
				"8a3b0aa372600a92b57974cded2b9334794cba40c63e34cdea212c4cf07d41b7",
		},
	}
	eachImplementation(t, func(t *testing.T) {
		for _, test := range tests {
			var key Key
			if _, err := hex.Decode(key[:], []byte(test.key)); err != nil {
				t.Fatal(err)
			}
			s := key.Stream(test.id)
			s.Seek(test.counter * blockWords)
			var block []byte
			for range blockWords {
				block = binary.LittleEndian.AppendUint64(block, s.Uint64())
			}
			if got := hex.EncodeToString(block); got != test.block {
				t.Errorf("%s: block %s, want %s", test.name, got, test.block)
			}
		}
	})
}

// Word i of a stream is word i%8 of the block that x/crypto makes for counter i/8, anywhere in the stream, so a stream
// never uses a counter twice.
func TestStreamIsKeystream(t *testing.T) {
	eachImplementation(t, func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			key := InsecureKey(rapid.Uint64().Draw(t, "seed"))
			id := ID{Purpose(rapid.Byte().Draw(t, "purpose")), rapid.Uint32().Draw(t, "trial"), rapid.Uint32().Draw(t, "step")}
			first := rapid.Uint64Range(0, streamWords).Draw(t, "first")
			words := make([]uint64, min(uint64(rapid.IntRange(0, 3*groupWords).Draw(t, "words")), streamWords-first))
			s := key.Stream(id)
			s.Seek(first)
			s.uint64s(words)

			nonce := id.nonce()
			for i, got := range words {
				word := first + uint64(i)
				cipher, err := chacha20.NewUnauthenticatedCipher(key[:], nonce[:])
				if err != nil {
					t.Fatal(err)
				}
				cipher.SetCounter(uint32(word / blockWords))
				var block [64]byte
				cipher.XORKeyStream(block[:], block[:])
				if want := binary.LittleEndian.Uint64(block[word%blockWords*8:]); got != want {
					t.Fatalf("word %d is %#x, want %#x", word, got, want)
				}
			}
		})
	})
}

// The words are the same if drawn one at a time, in bulk or after Seek.
func TestStreamInPieces(t *testing.T) {
	key := InsecureKey(1)
	id := ID{Purpose: Noise}
	whole := make([]uint64, 5*groupWords)
	key.Stream(id).uint64s(whole)
	rapid.Check(t, func(t *rapid.T) {
		s := key.Stream(id)
		at := 0
		for at < len(whole) {
			switch n := rapid.IntRange(0, len(whole)-at).Draw(t, "n"); rapid.IntRange(0, 2).Draw(t, "how") {
			case 0:
				if got := s.Uint64(); got != whole[at] {
					t.Fatalf("Uint64 at %d is %#x, want %#x", at, got, whole[at])
				}
				at++
			case 1:
				piece := make([]uint64, n)
				s.uint64s(piece)
				if !slices.Equal(piece, whole[at:at+n]) {
					t.Fatalf("uint64s from %d to %d differs", at, at+n)
				}
				at += n
			case 2:
				at += n
				s.Seek(uint64(at))
			}
		}
	})
}

func TestStreamEnds(t *testing.T) {
	s := InsecureKey(1).Stream(ID{Purpose: Noise})
	s.Seek(streamWords - 1)
	s.Uint64()
	draws := map[string]func(){
		"Uint64":           func() { s.Uint64() },
		"uint64s":          func() { s.uint64s(make([]uint64, 1)) },
		"Normals":          func() { s.Normals(make([]float64, 2)) },
		"across the end":   func() { s.Seek(streamWords - groupWords); s.uint64s(make([]uint64, groupWords+1)) },
		"over two groups":  func() { s.Seek(streamWords - groupWords); s.uint64s(make([]uint64, 2*groupWords)) },
		"far past the end": func() { s.Seek(1<<64 - 1); s.Uint64() },
	}
	for name, draw := range draws {
		s.Seek(streamWords)
		if !panics(draw) {
			t.Errorf("%s past the end didn't panic", name)
		}
	}
	s.Seek(streamWords)
	s.uint64s(nil)
}

func panics(f func()) (yes bool) {
	defer func() { yes = recover() != nil }()
	f()
	return false
}

// Streams of IDs that differ in one part, or of keys that differ in one bit, have nothing to do with each other: the
// number of bits in which their words differ is binomial. Falsely rejects with probability 6e-7 for each of 6 pairs.
func TestStreamsAreIndependent(t *testing.T) {
	const words = 1 << 16
	key := InsecureKey(1)
	id := ID{Noise, 3, 5}
	other := key
	other[0] ^= 1
	base := make([]uint64, words)
	key.Stream(id).uint64s(base)
	for name, s := range map[string]*Stream{
		"purpose":          key.Stream(ID{Minibatch, 3, 5}),
		"trial":            key.Stream(ID{Noise, 2, 5}),
		"step":             key.Stream(ID{Noise, 3, 4}),
		"swapped":          key.Stream(ID{Noise, 5, 3}),
		"key":              other.Stream(id),
		"the stream later": shifted(key.Stream(id)),
	} {
		drawn := make([]uint64, words)
		s.uint64s(drawn)
		differing := 0
		for i, w := range drawn {
			differing += bits.OnesCount64(w ^ base[i])
		}
		if z := (float64(differing) - 32*words) / math.Sqrt(16*words); math.Abs(z) > 5 {
			t.Errorf("%s: differing bits are %.1f standard deviations from half", name, z)
		}
	}
}

func shifted(s *Stream) *Stream {
	s.Seek(1)
	return s
}

// The assembly writes by pointer; this test would find writes outside its destination.
func TestUint64sStaysInside(t *testing.T) {
	const guard = 0xa5a5a5a5a5a5a5a5
	eachImplementation(t, func(t *testing.T) {
		for n := range 3*groupWords + 1 {
			words := slices.Repeat([]uint64{guard}, n+2)
			InsecureKey(1).Stream(ID{}).uint64s(words[1 : n+1])
			if words[0] != guard || words[n+1] != guard {
				t.Fatalf("uint64s of %d words wrote outside them", n)
			}
		}
	})
}
