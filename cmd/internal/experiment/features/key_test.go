package features_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"testing"

	"github.com/dptrain/dptrain/cmd/internal/experiment/features"
)

// Every value counts, however many there are: the hash is SHA-256 of their number and their bits.
func TestFloatsAreHashedToTheLast(t *testing.T) {
	for _, n := range []int{0, 1, 1<<14 - 1, 1 << 14, 1<<14 + 1, 3<<14 + 7} {
		values := make([]float32, n)
		for i := range values {
			values[i] = float32(i) / 7
		}
		var b bytes.Buffer
		_ = binary.Write(&b, binary.LittleEndian, uint64(n)) // to a buffer
		_ = binary.Write(&b, binary.LittleEndian, values)
		if got := features.HashOf(values); got != sha256.Sum256(b.Bytes()) {
			t.Errorf("%d values have another hash", n)
		}
	}
}
