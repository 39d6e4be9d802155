package cpu

import (
	"testing"

	"github.com/dptrain/dptrain/internal/random"
	"github.com/dptrain/dptrain/train/engine"
)

// Whoever the members are, a chunk expects at most 48 of them; a random subset doesn't shrink the chunks.
func TestChunks(t *testing.T) {
	const n = 60000
	all := make([]int32, n)
	for i := range all {
		all[i] = int32(i)
	}
	subset := random.InsecureKey(1).Stream(random.ID{Purpose: random.Subset}).Bernoulli(0.1, all, nil)
	for name, c := range map[string]struct {
		members []int32
		rate    float64
		places  int // 0: any
	}{
		"all":                    {all, 0.0213, 1502},
		"subset":                 {subset, 0.0213, 15023},
		"shard":                  {all[:6000], 0.0213, 0},
		"shard, large batches":   {all[:6000], 0.5, 0},
		"shard, every sample":    {all[:6000], 1, 0},
		"two far apart":          {[]int32{0, n - 1}, 1, 0},
		"none":                   {nil, 0.5, 0},
		"few samples, all drawn": {all[:3], 1, 0},
	} {
		r := &run{members: c.members, job: engine.Job{Data: &engine.Data{Samples: n}}}
		r.places = chunkPlaces(c.members, n, engine.Mechanism{SamplingProbability: c.rate, ExpectedBatchSize: max(1, c.rate*float64(len(c.members)))})
		if c.places > 0 && (r.places < c.places*9/10 || r.places > c.places*11/10) {
			t.Errorf("%s: chunks of %d places, want about %d", name, r.places, c.places)
		}
		r.cut(c.members)
		for k := 1; k < len(r.cuts); k++ {
			if expected := c.rate * float64(r.cuts[k]-r.cuts[k-1]); expected > 1.5*chunk {
				t.Fatalf("%s: a chunk of %d places expects %v samples", name, r.places, expected)
			}
		}
	}
}
