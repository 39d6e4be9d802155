package experiment

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/train"
)

// Cache settles equal settings once, and loads data once. Its zero value with an engine is ready. It isn't safe for
// concurrent use. Close it at the end.
type Cache struct {
	Features train.Engine // computes features of images: see [Plan.Load]
	Sets     int          // maximum number of loaded data sets that it keeps, since they take memory; 0 for all

	settled map[string]*Plan // tunings, which repeat, without data
	sets    []*Plan          // loaded; the last used one is last
}

// Settled returns a settled plan without data. Its own files, if it has any, are closed: load it by [Cache.Load].
func (c *Cache) Settled(s Settings) (*Plan, error) {
	text, err := s.Experiment.YAML()
	if err != nil {
		return nil, err
	}
	if p, ok := c.settled[string(text)]; ok && s.Tune {
		return p.Again(s.InsecureSeed), nil
	}
	p, err := New(s)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(p.Settle(), p.Close()); err != nil {
		return nil, err
	}
	if s.Tune {
		if c.settled == nil {
			c.settled = map[string]*Plan{}
		}
		c.settled[string(text)] = p
	}
	return p.Again(s.InsecureSeed), nil
}

// Load gives a plan its data.
func (c *Cache) Load(ctx context.Context, p *Plan, f Follower) error {
	wanted := p.dataKey()
	for k, set := range c.sets {
		if set.dataKey() == wanted {
			c.sets = append(slices.Delete(c.sets, k, k+1), set)
			return p.LoadFrom(set)
		}
	}
	if c.Sets > 0 && len(c.sets) >= c.Sets {
		c.sets = slices.Delete(c.sets, 0, len(c.sets)-c.Sets+1) // before another takes memory
	}
	set, err := New(Settings{Experiment: p.Experiment, Tune: p.tune})
	if err != nil {
		return err
	}
	if err := set.Load(ctx, c.Features, f); err != nil {
		return errors.Join(err, set.Close())
	}
	c.sets = append(c.sets, set)
	return p.LoadFrom(set)
}

// Has reports whether the data of a plan are loaded.
func (c *Cache) Has(p *Plan) bool {
	wanted := p.dataKey()
	return slices.ContainsFunc(c.sets, func(set *Plan) bool { return set.dataKey() == wanted })
}

// Close forgets all plans and data.
func (c *Cache) Close() { c.settled, c.sets = nil, nil }

// dataKey returns the settings that plans must have in common to share data: see [Plan.LoadFrom].
func (p *Plan) dataKey() string {
	e := p.Experiment
	return fmt.Sprintf("%#v", []any{e.Dataset, e.Data, e.TextLength, e.Model, e.Activation})
}

// DataDigest returns a hash of a loaded plan's training samples and test inputs: machines with equal hashes train on
// equal data. It is private, since it can confirm a guess at the data.
func (p *Plan) DataDigest() ([sha256.Size]byte, error) {
	if p.data == nil {
		return [sha256.Size]byte{}, errors.New("hash a plan's data: they aren't loaded")
	}
	training, test := p.data.train.Digest(), p.data.testDigest()
	return sha256.Sum256(slices.Concat(training[:], test[:])), nil
}
