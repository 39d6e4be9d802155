package cluster

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"testing"

	"golang.org/x/crypto/chacha20poly1305"
	"pgregory.net/rapid"
)

// A message opens with the secret and the subject that it was sealed with, and unchanged; and not otherwise.
func TestSealing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text, purpose := rapid.SliceOf(rapid.Byte()).Draw(t, "text"), rapid.String().Draw(t, "purpose")
		s := newSealer(Secret{1})
		sealed := s.seal(purpose, text)
		if got, err := s.open(purpose, sealed); err != nil || !bytes.Equal(got, text) {
			t.Fatalf("%x, %v", got, err)
		}
		if bytes.Equal(s.seal(purpose, text), sealed) {
			t.Fatal("a text is sealed twice to the same bytes: the nonce isn't random")
		}
		damaged := bytes.Clone(sealed)
		damaged[rapid.IntRange(0, len(sealed)-1).Draw(t, "byte")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		short := sealed[:rapid.IntRange(0, len(sealed)-1).Draw(t, "length")]
		other := newSealer(Secret{2})
		for name, err := range map[string]error{
			"another purpose": opening(s, purpose+"x", sealed), "another secret": opening(other, purpose, sealed),
			"damaged": opening(s, purpose, damaged), "cut short": opening(s, purpose, short),
		} {
			if !errors.Is(err, ErrSecret) {
				t.Fatalf("%s: %v", name, err)
			}
		}
	})
}

func opening(s sealer, purpose string, sealed []byte) error {
	_, err := s.open(purpose, sealed)
	return err
}

// Messages are XChaCha20-Poly1305 with the subject as additional data: what a reader with no code of this package does.
func TestSealedByTheBook(t *testing.T) {
	t.Parallel()
	secret := Secret{3}
	aead, err := chacha20poly1305.NewX(secret.derive("messages"))
	if err != nil {
		t.Fatal(err)
	}
	sealed := newSealer(secret).seal("subject", []byte("text"))
	if got, err := aead.Open(nil, sealed[:24], sealed[24:], []byte("subject")); err != nil || string(got) != "text" {
		t.Errorf("%q, %v", got, err)
	}
}

// What is sealed for a process opens with its key alone, and for what it was sealed.
func TestSealingForAProcess(t *testing.T) {
	t.Parallel()
	mine, theirs := must(newKeyPair()), must(newKeyPair())
	box, err := sealFor(mine.PublicKey().Bytes(), boxFor("campaign", "job1"), []byte("text"))
	if err != nil || bytes.Contains(box, []byte("text")) {
		t.Fatal(err)
	}
	if got, err := openWith(mine, boxFor("campaign", "job1"), box); err != nil || string(got) != "text" {
		t.Errorf("%q, %v", got, err)
	}
	for _, purpose := range []string{boxFor("campaign", "job2"), boxFor("another", "job1"), ""} {
		if _, err := openWith(mine, purpose, box); !errors.Is(err, ErrSecret) {
			t.Errorf("for %q: %v", purpose, err)
		}
	}
	if _, err := openWith(theirs, boxFor("campaign", "job1"), box); !errors.Is(err, ErrSecret) {
		t.Errorf("with another key: %v", err)
	}
	for _, public := range [][]byte{nil, {1}, make([]byte, 32)} {
		if _, err := sealFor(public, "x", []byte("text")); err == nil {
			t.Errorf("sealed for the key %x", public)
		}
	}
}

// Nothing prints a secret by accident, and its keys and names are apart.
func TestSecretsAreKept(t *testing.T) {
	t.Parallel()
	s := NewSecret()
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		for _, value := range []any{s, &s, File{Secret: s}} {
			text := fmt.Sprintf(verb, value)
			for _, shown := range []string{hex.EncodeToString(s[:4]), base64.RawURLEncoding.EncodeToString(s[:3]), fmt.Sprintf("%d, %d", s[0], s[1]), fmt.Sprintf("%d %d %d", s[0], s[1], s[2])} {
				if bytes.Contains([]byte(text), []byte(shown)) {
					t.Errorf("%s shows %s", verb, text)
				}
			}
		}
	}
	if bytes.Equal(s.derive("names"), s.derive("messages")) || bytes.Equal(s.derive("names"), s[:]) {
		t.Error("one key for two purposes")
	}
	copied := s
	if NewSecret() == s || s.Token([]byte("x")) == NewSecret().Token([]byte("x")) || s.Token([]byte("x")) == s.Token([]byte("y")) || s.Token([]byte("x")) != copied.Token([]byte("x")) {
		t.Error("names aren't the secret's")
	}
	text, err := s.MarshalText()
	var again Secret
	if err := errors.Join(err, again.UnmarshalText(text)); err != nil || again != s {
		t.Errorf("%v", err)
	}
	if zero, err := (Secret{}).MarshalText(); err != nil || again.UnmarshalText(zero) == nil {
		t.Error("a secret of zeros is taken")
	}
}
