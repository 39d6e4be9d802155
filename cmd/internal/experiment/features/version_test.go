package features_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/dptrain/dptrain/cmd/internal/experiment/features"
	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/networks"
)

// Features that another network left under the same version would be taken for this one's. If this test fails, the
// network, or the way in which weights become its parameters, has changed: raise the version and put the new sum here.
func TestVersionStandsForTheNetwork(t *testing.T) {
	network, err := networks.ResNet20(networks.Options{}, 100)
	if err != nil {
		t.Fatal(err)
	}
	m := network.Extractor()
	program, err := compile.Compile(compile.Source{Inputs: m.Inputs, Params: m.Parameters, Output: m.Output, Cost: m.Cost})
	if err != nil {
		t.Fatal(err)
	}
	parameters, err := network.Fold(randomWeights(1))
	if err != nil {
		t.Fatal(err)
	}
	h := sha256.New()
	fmt.Fprintf(h, "%d %x", features.Version, program.Digest())
	for _, values := range parameters {
		fmt.Fprintf(h, " %x", values)
	}
	const want = "145f2bd5091ceb4fa5c8a31ea1df0acdc9b3a217a9f71ec491e5a5f0e9012162"
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		t.Errorf("version %d of the network is %s, want %s", features.Version, got, want)
	}
}

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
