package walk

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/internal/enginetest"
)

// The digest is a part of the keys of random draws: a program must have the same digest in every version, or a seed no
// longer releases the same bytes. A change of the bytecode that changes digests must update them here.
func TestDigestsStay(t *testing.T) {
	all, zoo := sha256.New(), enginetest.Zoo()
	for _, name := range slices.Sorted(maps.Keys(zoo)) {
		l, err := Lower(zoo[name].Program(t, 1))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(all, "%s: %x, tiles of %d\n", name, l.digest, l.Tile)
	}
	if got, want := fmt.Sprintf("%x", all.Sum(nil)[:8]), "a0a4be62b00119c2"; got != want {
		t.Errorf("the digests of %d programs hash to %s, want %s", len(zoo), got, want)
	}
}
