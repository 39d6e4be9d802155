package accountant

import (
	"github.com/dptrain/dptrain/accountant/internal/pld"
	"github.com/dptrain/dptrain/internal/renyi"
)

// MaxOver runs one of Events, drawn at random (Lemma [param_tuning]). The distribution is public; the bound holds for
// every distribution.
type MaxOver struct {
	Events []Event
}

// Parallel splits the data into disjoint shards in a way that does not depend on the samples' values, and runs the i-th
// of Events on the i-th shard (Corollary [RDP_parallel]). A sample is in one shard only, so at every epsilon the delta
// is the maximum over the shards. That holds for runs which depend on other runs' releases, and for a random split that
// draws each sample's shard by itself.
type Parallel struct {
	Events []Event
}

// alternatives is implemented by events that cost as much as the costliest of several events.
type alternatives interface{ alternatives() []Event }

func (m MaxOver) alternatives() []Event  { return m.Events }
func (p Parallel) alternatives() []Event { return p.Events }

func (m MaxOver) check(path string) error {
	if len(m.Events) == 0 {
		return invalid(path, "no candidates")
	}
	return checkParts(path, m.Events)
}

func (p Parallel) check(path string) error {
	if len(p.Events) == 0 {
		return invalid(path, "no shards")
	}
	return checkParts(path, p.Events)
}

func (m MaxOver) free() bool  { return every(m.Events, Event.free) }
func (p Parallel) free() bool { return every(p.Events, Event.free) }

func (m MaxOver) curve(r *curves) renyi.Curve  { return r.maximum(m.Events) }
func (p Parallel) curve(r *curves) renyi.Curve { return r.maximum(p.Events) }

func (m MaxOver) pair(r *profiler) (*pld.Pair, error)  { return r.maximum(m.Events) }
func (p Parallel) pair(r *profiler) (*pld.Pair, error) { return r.maximum(p.Events) }

func (m MaxOver) profile(r *profiler) (profile, error)  { return r.largest(m.Events) }
func (p Parallel) profile(r *profiler) (profile, error) { return r.largest(p.Events) }

func (m MaxOver) variance(d *deviations) float64  { return d.largest(m.Events...) }
func (p Parallel) variance(d *deviations) float64 { return d.largest(p.Events...) }

func (m MaxOver) theorems() []string  { return cite("maximum over candidates", m.Events...) }
func (p Parallel) theorems() []string { return cite("parallel composition", p.Events...) }
