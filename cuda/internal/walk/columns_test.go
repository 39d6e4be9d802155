package walk

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Of each sample's integers every place is named once, beside the others of its integer and after those before it;
// counts tell where those begin, and their number.
func TestEquals(t *testing.T) {
	if got := equals([]int32{7, 0, 7, 1 << 30, 0, 7, 3, 3, 3, 3, 3, 3}, 6); !slices.Equal(got, []int32{
		1, 4, 0, 2, 5, 3, 0, 1, 2, 3, 4, 5,
		2, 0, 3, 0, 0, 1, 6, 0, 0, 0, 0, 0,
	}) {
		t.Errorf("got %v", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		each := rapid.IntRange(1, 40).Draw(t, "each")
		samples := rapid.IntRange(0, 3).Draw(t, "samples")
		ids := rapid.SliceOfN(rapid.Int32Range(0, 5), each*samples, each*samples).Draw(t, "ids")
		got := equals(slices.Clone(ids), each)
		for s := range samples {
			own, places, counts := ids[s*each:][:each], got[s*each:][:each], got[(samples+s)*each:][:each]
			seen := map[int32]bool{}
			for i := 0; i < each; {
				id, n := own[places[i]], int(counts[i])
				var want []int32
				for k, v := range own {
					if v == id {
						want = append(want, int32(k))
					}
				}
				if seen[id] || n != len(want) || !slices.Equal(places[i:i+n], want) {
					t.Fatalf("sample %d, %v: %v, %v", s, own, places, counts)
				}
				if slices.IndexFunc(counts[i+1:i+n], func(c int32) bool { return c != 0 }) >= 0 {
					t.Fatalf("sample %d, %v: %v", s, own, counts)
				}
				seen[id], i = true, i+n
			}
		}
	})
}
