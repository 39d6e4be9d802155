package datasets

import (
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"
)

// Checksum is the name of an algorithm, sha256 or md5, a colon, and a sum in hexadecimal. MD5 is for files whose
// authors publish no other checksum. It detects damage, but no forgery.
type Checksum string

const (
	sha256Prefix = "sha256:"
	md5Prefix    = "md5:"
)

func (c Checksum) hash() hash.Hash {
	if strings.HasPrefix(string(c), md5Prefix) {
		return md5.New()
	}
	return sha256.New()
}

// of returns the sum that h computed, in the algorithm of c.
func (c Checksum) of(h hash.Hash) Checksum {
	algorithm, _, _ := strings.Cut(string(c), ":")
	return Checksum(algorithm + ":" + hex.EncodeToString(h.Sum(nil)))
}

// matches reports whether sum begins with c. Some authors publish only the beginning of a sum.
func (c Checksum) matches(sum Checksum) bool { return strings.HasPrefix(string(sum), string(c)) }

// differs returns the message for a file whose sum is got instead of c.
func (c Checksum) differs(got Checksum) string {
	name := "SHA-256"
	if strings.HasPrefix(string(c), md5Prefix) {
		name = "MD5"
	}
	return fmt.Sprintf("%s is %s, want %s", name, got.hex(), c.hex())
}

func (c Checksum) hex() string {
	_, sum, _ := strings.Cut(string(c), ":")
	return sum
}
