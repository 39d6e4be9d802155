package cluster

import (
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/hpke"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"

	"golang.org/x/crypto/chacha20poly1305"
)

// ErrSecret reports a message that wasn't sealed with this cluster's secret for its subject.
var ErrSecret = errors.New("sealed with another secret than this cluster's, or damaged")

// Secret is what a coordinator and its workers share. Whoever has it is admitted.
type Secret [32]byte

// NewSecret returns a secret from the operating system's randomness.
func NewSecret() (s Secret) {
	rand.Read(s[:]) // it never fails
	return s
}

// Format reveals nothing, whatever the verb, so that the secret is never printed by accident.
func (Secret) Format(f fmt.State, _ rune) { fmt.Fprint(f, "secret") }

// MarshalText encodes the secret for a cluster's file.
func (s Secret) MarshalText() ([]byte, error) {
	return []byte(base64.RawURLEncoding.EncodeToString(s[:])), nil
}

// UnmarshalText decodes a secret. Its errors don't have the text.
func (s *Secret) UnmarshalText(text []byte) error {
	raw, err := base64.RawURLEncoding.DecodeString(string(text))
	if err != nil || len(raw) != len(s) || Secret(raw) == (Secret{}) {
		return errors.New("secret: want 43 letters, digits, - and _, as dptrain cluster new writes them")
	}
	*s = Secret(raw)
	return nil
}

// derive returns a key for one purpose.
func (s Secret) derive(purpose string) []byte {
	key, err := hkdf.Key(sha256.New, s[:], nil, "dptrain cluster 1, "+purpose, chacha20poly1305.KeySize)
	if err != nil {
		panic(err) // of a wrong length alone
	}
	return key
}

// Token returns a name of what is kept from the server, such as the hash of a file, for subjects: those who have the
// secret get the same.
func (s Secret) Token(of []byte) string {
	mac := hmac.New(sha256.New, s.derive("names"))
	mac.Write(of)
	return hex.EncodeToString(mac.Sum(nil)[:8])
}

// sealer seals messages for those who have the secret.
type sealer struct{ aead cipher.AEAD }

func newSealer(s Secret) sealer {
	aead, err := chacha20poly1305.NewX(s.derive("messages"))
	if err != nil {
		panic(err) // of a wrong length alone
	}
	return sealer{aead}
}

// seal seals a text. Only open with the same purpose, which names the message's subject and kind, opens it. Nonces are
// random: 24 bytes don't repeat.
func (s sealer) seal(purpose string, text []byte) []byte {
	nonce := make([]byte, s.aead.NonceSize(), s.aead.NonceSize()+len(text)+s.aead.Overhead())
	rand.Read(nonce)
	return s.aead.Seal(nonce, nonce, text, []byte(purpose))
}

// open opens what seal returned. The error wraps [ErrSecret].
func (s sealer) open(purpose string, sealed []byte) ([]byte, error) {
	if len(sealed) < s.aead.NonceSize() {
		return nil, fmt.Errorf("message of %d bytes: %w", len(sealed), ErrSecret)
	}
	nonce, rest := sealed[:s.aead.NonceSize()], sealed[s.aead.NonceSize():]
	text, err := s.aead.Open(nil, nonce, rest, []byte(purpose))
	if err != nil {
		return nil, ErrSecret
	}
	return text, nil
}

// newKeyPair returns a process's key pair, for what only it may read. Who would read it has to break both a lattice and
// an elliptic curve: what is recorded today may be attacked later.
func newKeyPair() (hpke.PrivateKey, error) { return hpke.MLKEM768X25519().GenerateKey() }

// sealFor seals a text for the holder of a public key.
func sealFor(public []byte, purpose string, text []byte) ([]byte, error) {
	key, err := hpke.MLKEM768X25519().NewPublicKey(public)
	if err != nil {
		return nil, fmt.Errorf("a worker's public key: %w", err)
	}
	return hpke.Seal(key, hpke.HKDFSHA256(), hpke.ChaCha20Poly1305(), []byte(purpose), text)
}

// openWith opens what sealFor returned.
func openWith(key hpke.PrivateKey, purpose string, sealed []byte) ([]byte, error) {
	text, err := hpke.Open(key, hpke.HKDFSHA256(), hpke.ChaCha20Poly1305(), []byte(purpose), sealed)
	if err != nil {
		return nil, ErrSecret
	}
	return text, nil
}

func newNonce() []byte {
	nonce := make([]byte, 16)
	rand.Read(nonce)
	return nonce
}
