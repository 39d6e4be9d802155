package accountant

import (
	"github.com/dptrain/dptrain/accountant/internal/pld"
	"github.com/dptrain/dptrain/internal/renyi"
)

// severalShards is the composition of [Parallel] events for a unit that may have rows in all shards. It isn't a
// [Composed]: the shards run in any order, so none is known to come first. It is never part of a caller's event:
// [spread] makes it.
type severalShards struct{ Events []Event }

func (s severalShards) composed() Composed { return Composed(s) }

func (s severalShards) check(path string) error             { return s.composed().check(path) }
func (s severalShards) free() bool                          { return s.composed().free() }
func (s severalShards) curve(r *curves) renyi.Curve         { return s.composed().curve(r) }
func (s severalShards) pair(r *profiler) (*pld.Pair, error) { return s.composed().pair(r) }
func (s severalShards) variance(d *deviations) float64      { return s.composed().variance(d) }
func (s severalShards) theorems() []string                  { return s.composed().theorems() }
