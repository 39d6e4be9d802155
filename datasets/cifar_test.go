package datasets

import (
	"slices"
	"testing"
)

// The first labels are those of the set's own page and of every tutorial: frog, truck, truck, deer; cat, ship, ship,
// airplane.
func TestPublishedCIFAR(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, and runs nothing side by side")
	}
	skipWithout(t, "cifar-10")
	raw, err := OpenRaw(t.Context(), "cifar-10", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if raw.Train.N != 50_000 || raw.Test.N != 10_000 || !slices.Equal(raw.Train.Shape, []int{3, 32, 32}) {
		t.Errorf("%d training and %d test images of shape %v", raw.Train.N, raw.Test.N, raw.Train.Shape)
	}
	if got, want := raw.Train.Labels[:8], []byte{6, 9, 9, 4, 1, 1, 2, 7}; !slices.Equal(got, want) {
		t.Errorf("first training labels %v, want %v", got, want)
	}
	if got, want := raw.Test.Labels[:8], []byte{3, 8, 8, 0, 6, 6, 1, 6}; !slices.Equal(got, want) {
		t.Errorf("first test labels %v, want %v", got, want)
	}
	for name, images := range map[string]*Images{"training": &raw.Train, "test": &raw.Test} {
		var counts [10]int
		for _, l := range images.Labels {
			counts[l]++
		}
		for class, n := range counts {
			if n != images.N/10 {
				t.Errorf("%s: class %d has %d images, want %d", name, class, n, images.N/10)
			}
		}
	}
	// The first pixels of the first training image, as in PyTorch: red of row 0.
	if got, want := raw.Train.Pixels[:4], []byte{59, 43, 50, 68}; !slices.Equal(got, want) {
		t.Errorf("first pixels %v, want %v", got, want)
	}
	t.Logf("edition %s, digest %s", raw.Edition, raw.Digest())
}
