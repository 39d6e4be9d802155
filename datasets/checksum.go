package datasets

import (
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"
)

// Checksum is the name of an algorithm, sha256 or md5, a colon, and a sum in hexadecimal. MD5 is there for files
// whose authors publish no other; it finds damage, and not an attacker who made two files for it.
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

// of returns what h has computed, in the algorithm of c.
func (c Checksum) of(h hash.Hash) Checksum {
	algorithm, _, _ := strings.Cut(string(c), ":")
	return Checksum(algorithm + ":" + hex.EncodeToString(h.Sum(nil)))
}

// matches says whether a whole sum is c, or begins with c if only a beginning is published.
func (c Checksum) matches(sum Checksum) bool { return strings.HasPrefix(string(sum), string(c)) }

// differs says that a file has the sum got instead of c.
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
