package remote

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"

	"github.com/dptrain/dptrain/cmd/internal/experiment"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/train"
	"github.com/dptrain/dptrain/tuner"
)

// setsKept is the number of loaded data sets that a machine keeps.
const setsKept = 2

// Machine carries out orders on this computer. It is safe for concurrent use, and carries out one call after the other.
// Close it at the end. Its fields mustn't change after the first call.
type Machine struct {
	Engine      train.Engine // trains
	Features    train.Engine // computes features of images, on the CPU
	Performance settings.Performance
	Program     string // SHA-256 of the program's file
	Name        string // engine, processor and cores, for the records
	Train, Test string // paths of own files, for orders on data set [settings.Files]

	mu          sync.Mutex
	cache       experiment.Cache
	arithmetics map[string]string // by group
}

// Follower receives the progress of a machine. Its methods are called one at a time.
type Follower interface {
	Note(text string)
	Warn(text string)
	// Loading reports the progress of a data set that is loaded.
	Loading(done, total float64, what string)
	// Working reports how much of the current orders is done, from 0 to 1.
	Working(share float64)
}

// loading shows the progress of a data set that is loaded.
type loading struct{ Follower }

func (l loading) Progress(done, total float64, what string) { l.Loading(done, total, what) }
func (loading) Tuning(tuner.PrivateProgress)                {}

// Close frees the memory of the data sets.
func (m *Machine) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cache.Close()
}

// plan returns an order's settled plan with its data loaded.
func (m *Machine) plan(ctx context.Context, o Order, f Follower) (*experiment.Plan, error) {
	m.cache.Features, m.cache.Sets = m.Features, setsKept
	s := o.Settings
	s.Experiment.Performance = m.Performance
	if s.Dataset == settings.Files {
		s.Data.Train, s.Data.Test = m.Train, m.Test
	}
	p, err := m.cache.Settled(s)
	if err != nil {
		return nil, err
	}
	if !m.cache.Has(p) && len(o.Trials) == 0 { // a few trials take less than the whole run
		if err := p.Fits(); err != nil {
			return nil, err
		}
	}
	if err := m.cache.Load(ctx, p, loading{f}); err != nil {
		return nil, fmt.Errorf("load %s: %w", s.Dataset, err)
	}
	return p, nil
}

// DataDigest returns a hash of the data that an order would train on, which it loads if need be: see
// [experiment.Plan.DataDigest]. A machine whose data differ from the others' mustn't carry out the order.
func (m *Machine) DataDigest(ctx context.Context, o Order, f Follower) ([sha256.Size]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, err := m.plan(ctx, o, f)
	if err != nil {
		return [sha256.Size]byte{}, fmt.Errorf("%s: %w", o.Name, err)
	}
	return p.DataDigest()
}

// arithmetic returns the name of the arithmetic of an order's plan.
func (m *Machine) arithmetic(o Order, p *experiment.Plan) (string, error) {
	group := o.Group()
	if name, ok := m.arithmetics[group]; ok {
		return name, nil
	}
	name, err := p.Arithmetic(m.Engine)
	if err != nil {
		return "", err
	}
	if m.arithmetics == nil {
		m.arithmetics = map[string]string{}
	}
	m.arithmetics[group] = line(name, maxName)
	return m.arithmetics[group], nil
}
