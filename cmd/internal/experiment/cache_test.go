package experiment

import (
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/cpu"
)

func cached(t *testing.T, overrides ...string) Settings {
	t.Helper()
	all := []settings.Override{{Key: "preset", Value: "glyphs"}, {Key: "privacy.accounting", Value: "paper"}}
	for _, text := range overrides {
		o, err := settings.ParseOverride(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, o)
	}
	e, err := settings.Resolve(settings.File{}, all)
	if err != nil {
		t.Fatal(err)
	}
	return Settings{Experiment: e, Tune: true}
}

// A cache settles equal settings once, whatever their seeds, and loads each data set once while it keeps it.
func TestCache(t *testing.T) {
	c := Cache{Features: cpu.New(cpu.Options{}), Sets: 2}
	defer c.Close()
	load := func(s Settings) *Plan {
		p, err := c.Settled(s)
		if err != nil {
			t.Fatal(err)
		}
		if p.data != nil {
			t.Error("a settled plan has data, which it would keep in memory")
		}
		if err := c.Load(t.Context(), p, silent{}); err != nil {
			t.Fatal(err)
		}
		return p
	}
	seeded := cached(t, "model=linear")
	seeded.InsecureSeed = new(uint64(3))
	first, again := load(seeded), load(cached(t, "model=linear"))
	if first.data != again.data || !first.Statement().Insecure || again.Statement().Insecure || again.Seed() != nil || *first.Seed() != 3 {
		t.Errorf("%+v and %+v", first.Statement(), again.Statement())
	}
	if len(c.settled) != 1 {
		t.Errorf("settled %d plans", len(c.settled))
	}
	if tight := load(cached(t, "model=linear", "privacy.epsilon=1")); tight.data != first.data || tight.Statement().Epsilon > 1 {
		t.Errorf("epsilon %v", tight.Statement().Epsilon)
	}
	other := load(cached(t, "model=mlp:8"))
	if load(seeded).data != first.data || other.data == first.data {
		t.Error("two models share data, or one doesn't")
	}
	load(cached(t, "model=mlp:9")) // in the place of mlp:8, which wasn't used for longest
	if len(c.sets) != 2 || load(seeded).data != first.data || load(cached(t, "model=mlp:8")).data == other.data {
		t.Errorf("%d data sets are kept, or not the last ones", len(c.sets))
	}
	if _, err := c.Settled(cached(t, "privacy.epsilon=0.001")); err == nil {
		t.Error("an impossible budget: no error")
	}
}

// The digest of data doesn't depend on the run, and a plan without data has none.
func TestDataDigest(t *testing.T) {
	c := Cache{Features: cpu.New(cpu.Options{})}
	p, err := c.Settled(cached(t, "model=linear"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.DataDigest(); err == nil {
		t.Error("a digest of nothing")
	}
	if err := c.Load(t.Context(), p, silent{}); err != nil {
		t.Fatal(err)
	}
	digest, err := p.DataDigest()
	if err != nil || digest == [32]byte{} {
		t.Errorf("%x, %v", digest, err)
	}
}

// The shares of runs add up to one share, and warnings are passed on.
func TestShares(t *testing.T) {
	var told []float64
	var warned []string
	all := Shares(2, func(text string) { warned = append(warned, text) }, func(share float64) { told = append(told, share) })
	all[0].Progress(1, 2, "")
	all[1].Progress(3, 2, "") // more than all
	all[1].Progress(1, 0, "") // unknown
	all[0].Progress(2, 2, "")
	all[0].Note("x")
	all[1].Warn("y")
	if len(told) != 3 || told[0] != 0.25 || told[1] != 0.75 || told[2] != 1 || strings.Join(warned, " ") != "y" {
		t.Errorf("shares %v, warnings %q", told, warned)
	}
}
