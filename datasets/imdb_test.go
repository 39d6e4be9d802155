package datasets

import (
	"testing"
	"time"
)

func TestPublishedIMDB(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and runs nothing side by side")
	}
	skipWithout(t, "imdb")
	o := Options{Cache: t.TempDir()}
	for range 2 {
		t0 := time.Now()
		set, err := Open(t.Context(), "imdb", o)
		if err != nil {
			t.Fatal(err)
		}
		t.Log(time.Since(t0), set.Train.N, set.Test.N, set.Edition, set.Train.Tokens[:20])
	}
}
