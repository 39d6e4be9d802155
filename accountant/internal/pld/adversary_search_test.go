package pld

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/long"
)

// A dominated is a pair with laws that it dominates. The adversary may run a different law each time.
type dominated struct {
	laws  []law
	bound *Pair
}

// A judged bound is compared with the exact divergences in both directions.
type judged interface {
	Profile
	DeltaAt(epsilon float64) float64
}

// attacks build a mechanism of every kind that an event can describe, and bounds that should dominate it.
var attacks = []struct {
	name   string
	cheap  bool // no selection
	decode func(g *genes) (law, []judged)
}{
	{"one run", true, func(g *genes) (law, []judged) { return g.judged(g.mechanism()) }},
	{"composition", true, func(g *genes) (law, []judged) {
		d := g.composed(g.mechanism(), g.mechanism())
		if g.unit() < 0.5 {
			d = g.composed(d, g.mechanism())
		}
		return g.judged(d)
	}},
	{"maximum", true, func(g *genes) (law, []judged) {
		return g.judged(g.composed(g.mechanism(), g.maximum(g.mechanism(), g.mechanism())))
	}},
	{"maximum of one", true, func(g *genes) (law, []judged) { return g.judged(g.maximum(g.mechanism())) }},
	{"sampled maximum", true, func(g *genes) (law, []judged) {
		return g.judged(g.sampled(g.maximum(g.mechanism(), g.mechanism())))
	}},
	{"subset without tuning", true, func(g *genes) (law, []judged) {
		return g.judgedSubset(g.subset(g.mechanism(), g.mechanism()))
	}},
	{"best of K", false, func(g *genes) (law, []judged) { return g.judged(g.best(g.mechanism(), 200)) }},
	{"best of K over candidates", false, func(g *genes) (law, []judged) {
		return g.judged(g.best(g.maximum(g.mechanism(), g.mechanism()), 200))
	}},
	{"drawn", true, func(g *genes) (law, []judged) {
		d := g.composed(g.mechanism(), g.drawn(g.mechanism(), g.maximum(g.mechanism(), g.mechanism())))
		return g.judged(g.sampled(d))
	}},
	{"best of K drawn", false, func(g *genes) (law, []judged) {
		return g.judged(g.best(g.drawn(g.mechanism(), g.mechanism(), g.mechanism()), 200))
	}},
	{"variant 1 with drawn trials", false, func(g *genes) (law, []judged) {
		a, b := g.mechanism(), g.mechanism()
		return g.judgedSubset(g.subset(g.best(g.drawn(a, b), 50), g.maximum(a, b)))
	}},
	{"best of K compositions", false, func(g *genes) (law, []judged) {
		return g.judged(g.best(g.composed(g.mechanism(), g.mechanism()), 200))
	}},
	{"best of K sampled", false, func(g *genes) (law, []judged) { return g.judged(g.best(g.sampled(g.mechanism()), 200)) }},
	{"tuning of tunings", false, func(g *genes) (law, []judged) { return g.judged(g.best(g.best(g.mechanism(), 20), 20)) }},
	{"variant 1", false, func(g *genes) (law, []judged) {
		trial, final := g.twoRuns()
		return g.judgedSubset(g.subset(g.best(trial, 200), final))
	}},
	{"variant 1 with candidates", false, func(g *genes) (law, []judged) {
		candidates := g.maximum(g.mechanism(), g.mechanism())
		return g.judgedSubset(g.subset(g.best(candidates, 50), candidates))
	}},
	{"subset in a subset", false, func(g *genes) (law, []judged) {
		trial, final := g.twoRuns()
		inner, _ := g.subset(g.best(trial, 50), final)
		if g.unit() < 0.5 {
			return g.judgedSubset(g.subset(g.mechanism(), inner))
		}
		return g.judgedSubset(g.subset(g.best(inner, 20), final))
	}},
	{"variant 2", false, func(g *genes) (law, []judged) {
		trial, final := g.twoRuns()
		return g.judged(g.composed(g.sampled(g.best(trial, 200)), final))
	}},
	{"best of variant 2", false, func(g *genes) (law, []judged) {
		trial, final := g.twoRuns()
		return g.judged(g.best(g.composed(g.sampled(g.best(trial, 20)), final), 20))
	}},
}

func (g *genes) judged(d dominated) (law, []judged) { return d.laws[0], []judged{d.bound} }

// judgedSubset judges variant 1 by itself and on the grid.
func (g *genes) judgedSubset(d dominated, sharp Subset) (law, []judged) {
	return d.laws[0], []judged{sharp, d.bound}
}

// twoRuns is a trial and a final run, of the same mechanism half of the time.
func (g *genes) twoRuns() (trial, final dominated) {
	trial, final = g.mechanism(), g.mechanism()
	if g.unit() < 0.5 {
		final = trial
		g.note("the final run is a trial")
	}
	return trial, final
}

func (g *genes) best(trial dominated, mostRuns float64) dominated {
	k, l := g.repetitions(mostRuns), g.mixture(trial.laws)
	cells := []int{4, 16, 48, CellCount}[g.below(4)]
	g.note("%d cells", cells)
	bound := g.pair(func() (*Pair, error) { return bestOfCells(trial.bound, k, cells) })
	return dominated{laws: []law{l.best(k, g.scores(l))}, bound: bound}
}

func (g *genes) subset(tune, final dominated) (dominated, Subset) {
	sharp := Subset{Tune: tune.bound, Base: final.bound, Rate: g.probability()}
	g.note("subset of rate %v", sharp.Rate)
	exact := g.mixture(tune.laws).subsetThen(sharp.Rate, g.follower(final.laws))
	return dominated{laws: []law{exact}, bound: g.pair(sharp.Pair)}, sharp
}

func (g *genes) sampled(d dominated) dominated {
	rate := g.probability()
	g.note("sampled at rate %v", rate)
	out := dominated{bound: g.pair(func() (*Pair, error) { return Sampled(d.bound, rate) })}
	for _, l := range d.laws {
		out.laws = append(out.laws, l.sampled(rate))
	}
	return out
}

func (g *genes) composed(d, e dominated) dominated {
	exact := g.mixture(d.laws).then(g.follower(e.laws))
	return dominated{laws: []law{exact}, bound: g.pair(func() (*Pair, error) { return Composed(d.bound, e.bound) })}
}

func (g *genes) maximum(candidates ...dominated) dominated {
	var out dominated
	var bounds []*Pair
	for _, d := range candidates {
		out.laws, bounds = append(out.laws, d.laws...), append(bounds, d.bound)
	}
	out.bound = g.pair(func() (*Pair, error) { return Maximum(bounds) })
	return out
}

// drawn is one of several candidates, which is drawn at random by public weights and released with its outcome.
func (g *genes) drawn(candidates ...dominated) dominated {
	var exact law
	var bounds []*Pair
	weights, total := make([]float64, len(candidates)), 0.0
	for i := range weights {
		weights[i] = g.logWithin(1e-4, 1)
		total += weights[i]
	}
	for i, d := range candidates {
		weights[i] /= total
		l := g.mixture(d.laws)
		for j := range l.p {
			exact.add(weights[i]*l.p[j], weights[i]*l.q[j])
		}
		weights[i] *= 1 + 0x1p-40
		bounds = append(bounds, d.bound)
	}
	g.note("drawn by %v", weights)
	return dominated{laws: []law{exact}, bound: g.pair(func() (*Pair, error) { return Mixture(bounds, weights) })}
}

// massError is the relative error of exact masses. Where masses cancel, it also counts as an error of epsilon.
const massError = 1e-12

// A search climbs to the largest ratio of the exact divergence to its bound in one direction, at the epsilon where the
// exact one has a given level. Without a level it would always find the same trivial maximum.
type search struct {
	decode   func(g *genes) (law, []judged)
	rand     *rand.Rand
	settings genes // to start from
	reverse  bool
	level    float64 // log10 of delta
	*tally
}

type tally struct {
	mechanisms, refused, comparisons int
	largest, plainest                [3]float64 // exact/bound by the band of delta
	violation                        string
}

func newSearch(decode func(g *genes) (law, []judged), seed uint64, counts *tally) *search {
	s := &search{decode: decode, rand: rand.New(rand.NewPCG(seed, 7)), tally: counts}
	s.reverse, s.level = seed%2 == 1, -0.5-13.5*math.Pow(s.rand.Float64(), 2)
	s.settings = genes{plain: seed/2%2 == 1, plainRuns: 2 + 6*s.rand.Float64(), mostRuns: 10}
	if seed%5 == 4 {
		s.settings.mostRuns = 200
	}
	return s
}

// climb tries mechanisms until the first violation and returns the largest ratio. Most of them reuse the bounds of the
// best so far, since bounds take longer than exact laws.
func (s *search) climb(starts, steps int) float64 {
	const softTries = 4
	var best *genes
	highest := math.Inf(-1)
	for i := 0; i < starts+steps && s.violation == ""; i++ {
		g := s.settings
		g.dice, g.soft = &dice{fresh: s.rand}, &dice{fresh: s.rand}
		switch {
		case i%softTries > 0:
			g.values, g.soft.values, g.known = best.values, s.mutated(best.soft.values), best.pairs
		case i >= starts:
			g.values, g.soft.values = s.mutated(best.values), s.mutated(best.soft.values)
		}
		if ratio := s.try(&g); best == nil || ratio >= highest {
			best, highest = &g, ratio
		}
	}
	return highest
}

// mutated moves a few dice by steps of all sizes, or throws them anew.
func (s *search) mutated(values []float64) []float64 {
	values = slices.Clone(values)
	for more := len(values) > 0; more; more = s.rand.IntN(3) > 0 {
		i := s.rand.IntN(len(values))
		if s.rand.IntN(4) == 0 {
			values[i] = s.rand.Float64()
			continue
		}
		x := values[i] + s.rand.NormFloat64()*math.Pow(10, -4*s.rand.Float64())
		values[i] = math.Max(0, math.Min(x, math.Nextafter(1, 0)))
	}
	return values
}

// try compares one mechanism with its bounds and returns the ratio to climb.
func (s *search) try(g *genes) (ratio float64) {
	defer func() {
		if r := recover(); r != nil {
			s.violation = fmt.Sprintf("panic: %v\n%s\n%s", r, s.description(g), debug.Stack())
		}
	}()
	exact, bounds := s.decoded(g)
	s.mechanisms++
	ratio = math.Inf(-1)
	if g.err != nil {
		s.refused++
		return ratio
	}
	for _, e := range s.epsilons(g, exact) {
		for _, bound := range bounds {
			remove, add := bound.Remove(e), bound.Add(e)
			r := s.compare(e, exact.p, exact.q, remove, !s.reverse)
			a := s.compare(e, exact.q, exact.p, add, s.reverse)
			ratio = math.Max(ratio, math.Max(r, a))
			if math.IsInf(ratio, 1) || !(bound.DeltaAt(e) >= math.Max(remove, add)) {
				s.violation = fmt.Sprintf("epsilon %v: remove %v and add %v for the exact %v and %v\n%s",
					e, remove, add, hockey(exact.p, exact.q, e), hockey(exact.q, exact.p, e), s.description(g))
				return ratio
			}
		}
	}
	return ratio
}

// decoded decodes from the first die on.
func (s *search) decoded(g *genes) (law, []judged) {
	g.next, g.soft.next, g.pairs = 0, 0, nil
	g.step = g.logWithin(0.1, 1)
	g.note("grid of step %v", g.step)
	return s.decode(g)
}

// description decodes once more, with notes.
func (s *search) description(g *genes) (notes string) {
	g.notes = &strings.Builder{}
	defer func() {
		_ = recover() // try reports it
		notes = g.notes.String()
	}()
	s.decoded(g)
	return notes
}

// epsilons returns the epsilon where the search climbs, the grid points around it, others near an outcome's loss and at
// random, and for new bounds a list.
func (s *search) epsilons(g *genes, exact law) []float64 {
	p, q, low, high := exact.p, exact.q, 0.0, 40.0
	if s.reverse {
		p, q = q, p
	}
	for high-low > 1e-9 {
		if mid := (low + high) / 2; math.Log10(hockey(p, q, mid)) > s.level {
			low = mid
		} else {
			high = mid
		}
	}
	onGrid, anywhere, i := math.Floor(low/g.step)*g.step, 40*math.Pow(g.soft.unit(), 2), g.soft.below(len(p))
	loss, before := math.Log(p[i]/q[i]), g.soft.logWithin(1e-6, 5)
	all := []float64{low, onGrid, onGrid + g.step, anywhere, -anywhere / 8}
	if loss > -5 && loss < 40 {
		all = append(all, loss-before, math.Round(loss/g.step)*g.step)
	}
	if g.known == nil {
		all = append(all, -5, -1, -0.1, 0, 0.1, 0.5, 1, 2, 4, 8, 16, 24, 32, 40)
	}
	return all
}

// compare returns the ratio to climb, -Inf outside the direction of the search, +Inf for a violation, or minus the
// error of the level if that is too large.
func (s *search) compare(epsilon float64, p, q []float64, bound float64, climbs bool) float64 {
	s.comparisons++
	exact := hockey(p, q, epsilon+2*massError) * (1 - massError)
	if !(bound >= exact-1e-300) {
		return math.Inf(1)
	}
	if epsilon < 0 || exact < 1e-15 {
		return math.Inf(-1)
	}
	ratio, level := exact/bound, math.Log10(exact)
	if band := bandOf(exact); band >= 0 {
		s.largest[band] = math.Max(s.largest[band], ratio)
		if s.settings.plain {
			s.plainest[band] = math.Max(s.plainest[band], ratio)
		}
	}
	if !climbs {
		return math.Inf(-1)
	}
	if off := math.Abs(level - s.level); off > 0.5 {
		return -off
	}
	return ratio
}

// bandOf sorts deltas for the tally; those near 1 are left out because everything is tight there.
func bandOf(delta float64) int {
	switch {
	case delta > 0.5:
		return -1
	case delta > 1e-2:
		return 0
	case delta > 1e-8:
		return 1
	}
	return 2
}

// TestAdversary searches for mechanisms whose exact divergences exceed the bound by pairs. Seeds are fixed: the same
// command finds the same violation again. Five seeds of 160 steps were seen to fail with T(u) = u, a mean of K that is
// 0.05 too low, T too large by 2e-3 of 1-T or at the end of its outcome, q and 1-q exchanged, any mass at infinity
// dropped, masses rounded down or to the nearest point, tails of e^-50 dropped, the first candidate for the maximum, a
// delta low by 1e-8 of its value or by 1e-15, an epsilon high by 1e-10 of its value, and with the change of commit
// a3f37eb.
func TestAdversary(t *testing.T) {
	seeds, cheap, starts, steps := 1, 8, 40, 160
	if long.Tests() {
		seeds, cheap, starts, steps = 20, 100, 80, 600
	}
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			total, most := &tally{}, seeds
			if a.cheap {
				most = cheap
			}
			for seed := range most {
				if newSearch(a.decode, uint64(seed), total).climb(starts, steps); total.violation != "" {
					t.Fatalf("seed %d, mechanism %d: %s", seed, total.mechanisms, total.violation)
				}
			}
			t.Logf("%d mechanisms, %d of them refused, %d comparisons; largest exact/bound for deltas 0.5 to 1e-2, to 1e-8 and below: %.6f, plain %.6f",
				total.mechanisms, total.refused, total.comparisons, total.largest, total.plainest)
		})
	}
}
