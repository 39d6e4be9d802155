package random

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestInsecureKey(t *testing.T) {
	// From Python's hashlib:
	// hashlib.sha256(b"dptrain insecure key v1" + struct.pack("<Q", 20230707)).hexdigest()
	const want = "b6f2d683ce924ac9967bf6d4ea9a1b7ddcd5755ab6cc57c2a918f9de9e5f7060"
	key := InsecureKey(20230707)
	if got := hex.EncodeToString(key[:]); got != want {
		t.Errorf("InsecureKey(20230707) = %s, want %s", got, want)
	}
}

func TestNewKey(t *testing.T) {
	// Equal with probability 2^-256.
	if a, b := NewKey(), NewKey(); a == b {
		t.Error("two new keys are equal")
	}
}

func TestKeyHidesItself(t *testing.T) {
	key := InsecureKey(1)
	holder := struct{ Key Key }{key}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		for _, value := range []any{key, &key, holder} {
			if text := fmt.Sprintf(verb, value); !strings.Contains(text, "hidden") {
				t.Errorf("%s of %T prints %q", verb, value, text)
			}
		}
	}
}

func TestNonceLayout(t *testing.T) {
	nonce := ID{Purpose: Noise, Trial: 0x01020304, Step: 0xa0b0c0d0}.nonce()
	if got := hex.EncodeToString(nonce[:]); got != "0600000004030201d0c0b0a0" {
		t.Errorf("nonce = %s", got)
	}
}

// Equal nonces mean equal IDs; that the words of one nonce never share a block counter is TestStreamIsKeystream.
func TestNoncesAreDistinct(t *testing.T) {
	id := rapid.Custom(func(t *rapid.T) ID {
		// Few values, the extremes among them, so that IDs that share a part are common.
		part := rapid.SampledFrom([]uint32{0, 1, 2, 255, 256, 1 << 16, 1 << 24, 1<<32 - 1})
		return ID{Purpose(rapid.IntRange(0, 255).Draw(t, "purpose")), part.Draw(t, "trial"), part.Draw(t, "step")}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := id.Draw(t, "a"), id.Draw(t, "b")
		if (a.nonce() == b.nonce()) != (a == b) {
			t.Fatalf("nonces of %v and %v: %x and %x", a, b, a.nonce(), b.nonce())
		}
	})
}

func TestKeyShowsInNoEncoding(t *testing.T) {
	k := InsecureKey(7)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%x", "%q", "%o"} {
		if text := fmt.Sprintf(verb, struct{ K Key }{k}); strings.Contains(text, fmt.Sprint(k[0])) && strings.Contains(text, fmt.Sprint(k[1])) || strings.Contains(text, fmt.Sprintf("%x", k[:4])) {
			t.Errorf("%s prints %s", verb, text)
		}
	}
	if text, err := json.Marshal(map[string]Key{"k": k}); err == nil {
		t.Errorf("JSON encodes a key: %s", text)
	}
}
