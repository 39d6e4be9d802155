package pld

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/accountant/internal/repetitions"
	"github.com/dptrain/dptrain/internal/long"
)

// The tests of this file were written for changes of the code that ordering_test.go didn't see.

// levels returns values of c, from one with an integral of nearly 1 to one with an integral of nearly 0.
func (o intervals) levels(count int, least float64) []float64 {
	find := func(want float64) float64 {
		low, high := -10.0, 30.0
		for range 25 {
			if mid := (low + high) / 2; o.best(above(math.Exp(mid))) > want {
				low = mid
			} else {
				high = mid
			}
		}
		return low
	}
	from, to := find(0.9), find(least)
	var all []float64
	for i := range count {
		all = append(all, math.Exp(from+(to-from)*(float64(i)+0.5)/float64(count)))
	}
	return all
}

func (o *ordering) at(c float64) float64 {
	levels := []float64{c}
	o.worst(levels)
	return levels[0]
}

// someK are of every kind, from hardly any trials to so many that single cells are deep.
var someK = []repetitions.Distribution{
	repetitions.Poisson{Mean: 0.05}, repetitions.Poisson{Mean: 1}, repetitions.Poisson{Mean: 4}, repetitions.Poisson{Mean: 12}, repetitions.Poisson{Mean: 60}, repetitions.Poisson{Mean: 400}, repetitions.TruncatedPoisson{Rate: 0.3}, repetitions.TruncatedPoisson{Rate: 8}, repetitions.TruncatedPoisson{Rate: 90},
	repetitions.NegativeBinomial{Shape: 1, Success: 0.3}, repetitions.NegativeBinomial{Shape: 1, Success: 0.02}, repetitions.NegativeBinomial{Shape: 0, Success: 1e-3},
	repetitions.NegativeBinomial{Shape: -0.9, Success: 0.01}, repetitions.NegativeBinomial{Shape: 6, Success: 0.1}, repetitions.NegativeBinomial{Shape: 0.5, Success: 1e-4},
}

// evenLevels returns the levels at which the last outcome, in different orders, adds as much as it costs: a part of it
// counts, and the whole outcome as little as none of it.
func (d law) evenLevels(k repetitions.Distribution) []float64 {
	n := len(d.p)
	last := n - 1
	if d.q[last] == 0 {
		last--
	}
	var all []float64
	outP, outQ := 0.0, 0.0
	for i := range n - 1 { // placed last, except for the cells above it and the first i
		above := 0.0
		if last == n-2 {
			above = d.p[n-1]
		}
		if p, q := d.p[last], d.q[last]; p > 0 && i <= last {
			if c := p * share(k, outP+above, p) / (q * share(k, outQ, q)); c < 1e13 {
				all = append(all, c)
			}
		}
		outP, outQ = outP+d.p[i], outQ+d.q[i]
	}
	return all
}

// TestBoundOfFewCells checks the bound on uncut cells against orders of small parts of them, at many levels.
func TestBoundOfFewCells(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 1))
	for i := range 600 {
		d, k := drawLossPair(r, 4), append(someK, repetitions.Poisson{Mean: 1000}, repetitions.Poisson{Mean: 5000})[i%(len(someK)+2)]
		if i >= 450 {
			k = drawBinomial(r)
		}
		if long.Leaves(i, 4) {
			continue
		}
		fine := d.split(96 / len(d.p)).intervals(k).tabulated()
		o := d.ordering(k)
		levels := fine.levels(8, math.Pow(10, -1-8*r.Float64()))
		for _, c := range append(append(levels, d.evenLevels(k)...), 0.05, 0.3, 0.8) {
			attained := fine.best(above(c))
			if bound := o.at(c); !(bound >= attained*(1-1e-10)-1e-300) {
				t.Errorf("%v, %#v, c %v: the bound of %v is below %v", d, k, c, bound, attained)
			}
		}
	}
}

// TestBoundOfMixedCells leaves some outcomes whole among others that are cut: where the first part that counts is
// small, the allowances for other parts of cells must be enough.
func TestBoundOfMixedCells(t *testing.T) {
	const pieces = 24
	r := rand.New(rand.NewPCG(34, 1))
	for i := range 240 {
		d, k := drawLossPair(r, 5), someK[i%len(someK)]
		fine := d.split(pieces)
		var mixed law
		for j := range d.p {
			if r.IntN(2) == 0 || d.p[j] == 0 || d.q[j] == 0 {
				mixed.p, mixed.q = append(mixed.p, d.p[j]), append(mixed.q, d.q[j])
			} else {
				mixed.p, mixed.q = append(mixed.p, fine.p[j*pieces:(j+1)*pieces]...), append(mixed.q, fine.q[j*pieces:(j+1)*pieces]...)
			}
		}
		if long.Leaves(i, 2) {
			continue
		}
		table, o := fine.intervals(k).tabulated(), mixed.ordering(k)
		for _, c := range table.levels(16, math.Pow(10, -1-8*r.Float64())) {
			attained := table.best(above(c))
			if bound := o.at(c); !(bound >= attained*(1-1e-10)-1e-300) {
				t.Errorf("%v, %v, %#v, c %v: the bound of %v is below %v", d, len(mixed.p), k, c, bound, attained)
			}
		}
	}
}

// cut splits the outcomes in which into pieces of equal masses.
func (d law) cut(pieces int, which ...bool) law {
	var out law
	for i := range d.p {
		one := law{d.p[i : i+1], d.q[i : i+1]}
		if which[i] {
			one = one.split(pieces)
		}
		out.p, out.q = append(out.p, one.p...), append(out.q, one.q...)
	}
	return out
}

// TestBoundWhereOrdersTie climbs to the level at which placing a part of a cell matters most: about c = e^(sum of two
// cells' losses), where a whole cell does as well before the other as after it. All other cells are cut into pieces.
func TestBoundWhereOrdersTie(t *testing.T) {
	const pieces = 64
	r := rand.New(rand.NewPCG(35, 1))
	within := func(low, high float64) float64 { return low + (high-low)*r.Float64() }
	closest := [3]float64{2, 2, 2}
	for i := range 150 {
		k := []repetitions.Distribution{repetitions.Poisson{Mean: 4}, repetitions.Poisson{Mean: 12}, repetitions.TruncatedPoisson{Rate: 8}, repetitions.NegativeBinomial{Shape: 1, Success: 0.1}, repetitions.NegativeBinomial{Shape: -0.5, Success: 0.02}}[r.IntN(5)]
		var d law
		var cut []bool
		var low, high float64 // the losses that tie
		size := within(0.2, 1)
		switch i % 3 {
		case 0:
			// The whole cells are the second and the last, above the first by positive losses: part of the last, the
			// second, and the rest of the last.
			low = within(0.01, 0.2)
			middle := low + within(0.02, 0.5)
			high = middle + within(0.002, 0.1)
			p := []float64{0, size * within(0.02, 0.2), within(0.1, 0.4), size * within(0.02, 0.2)}
			d = law{p, []float64{0, p[1] * math.Exp(-low), p[2] * math.Exp(-middle), p[3] * math.Exp(-high)}}
			cut = []bool{true, false, true, false}
		case 1:
			// The whole cell is the second: the interval begins in it.
			low, high = -within(0.05, 0.6), within(0.6, 1.5)
			p := []float64{0, size * within(0.02, 0.2), within(0.05, 0.4)}
			d = law{p, []float64{0, p[1] * math.Exp(-low), p[2] * math.Exp(-high)}}
			cut = []bool{true, false, true}
		case 2:
			// The whole cell is the last: many parts of the first come between its parts.
			middle := within(0.2, 0.8)
			low, high = math.NaN(), middle+within(0.002, 0.1)
			p := []float64{0, within(0.1, 0.4), size * within(0.05, 0.3)}
			d = law{p, []float64{0, p[1] * math.Exp(-middle), p[2] * math.Exp(-high)}}
			cut = []bool{true, true, false}
		}
		restP, restQ := 1.0, 1.0
		for j := range d.p {
			restP, restQ = restP-d.p[j], restQ-d.q[j]
		}
		d.p[0], d.q[0] = restP, restQ
		if math.IsNaN(low) {
			low = math.Log(restP / restQ)
		}
		if restP <= 0 || restQ <= 0 || math.Log(restP/restQ) > low+1e-12 {
			continue
		}
		if long.Leaves(i, 4) {
			continue
		}
		mixed, fine := d.cut(pieces, cut...).ordering(k), d.split(pieces).intervals(k).tabulated()
		ratio := func(x float64) float64 {
			c := math.Exp(x)
			attained := fine.best(above(c))
			if attained < 1e-12 {
				return 2
			}
			return mixed.at(c) / attained
		}
		at, least, step := 0.0, 2.0, 0.5
		for x := low + high - 1; x <= low+high+1; x += 0.1 {
			if y := ratio(x); y < least {
				at, least = x, y
			}
		}
		for step = 0.05; step > 1e-4; step /= 2 {
			for _, x := range []float64{at - step, at + step} {
				if y := ratio(x); y < least {
					at, least = x, y
				}
			}
		}
		closest[i%3] = math.Min(closest[i%3], least)
		if least < 1-1e-10 {
			t.Errorf("%v, %#v, c %v: the bound is %v of what is attained", d, k, math.Exp(at), least)
		}
	}
	t.Logf("least bound/attained %v", closest)
}

// TestBoundOfCutCells checks the bound on cells that are cut as the package cuts them against the attained divergence:
// it is above, and close in epsilon.
func TestBoundOfCutCells(t *testing.T) {
	const shift, slack = 1.01, 1.002
	r := rand.New(rand.NewPCG(32, 1))
	highest := 0.0
	for i := range 150 {
		d, k := drawLossPair(r, 4), someK[i%len(someK)]
		if i >= 90 {
			k = drawBinomial(r)
		}
		if mean(k) > 10 || long.Leaves(i, 4) {
			continue // the pieces are too coarse
		}
		fine := d.split(300 / len(d.p)).intervals(k).tabulated()
		p, q, inf := d.finite()
		p, q = cutDeep(p, q, inf, k, 40, 192)
		o := orderingOf(p, q, inf, k)
		for _, c := range fine.levels(6, 1e-6) {
			attained := fine.best(above(c))
			if bound := o.at(c); !(bound >= attained*(1-1e-10)) {
				t.Errorf("%v, %#v, c %v: the bound of %v is below %v", d, k, c, bound, attained)
			}
			// Close to probability 1 phi1 falls to nearly 0, and with few losses most cells are cut for that reason.
			if b, ok := k.(repetitions.Binomial); ok {
				if b.Probability < 0.9 && o.at(c) > attained*1.1+1e-3 {
					t.Errorf("%v, %#v, c %v: the bound of %v is far above %v", d, k, c, o.at(c), attained)
				}
				continue
			}
			beyond := o.at(c * shift)
			highest = math.Max(highest, beyond/attained)
			if beyond > attained*slack {
				t.Errorf("%v, %#v: the bound at %v is %v, above what is attained at %v, %v", d, k, c*shift, beyond, c, attained)
			}
		}
	}
	t.Logf("largest bound/attained, a little further on: %v", highest)
}

// raised returns s with masses raised at random: a side only promises to be above the divergences.
func raised(s *side, r *rand.Rand) *side {
	mass := slices.Clone(s.mass)
	for i := range mass {
		mass[i] *= 1 + r.Float64()*r.Float64()
	}
	return newSide(s.Grid, s.low, mass, s.inf)
}

// TestBestOverCandidates checks the best of K against every order of either of two candidates, with sides whose total
// mass is far above 1 and must be cut.
func TestBestOverCandidates(t *testing.T) {
	r := rand.New(rand.NewPCG(33, 1))
	const step = 0.11
	highest := 0.0
	for i := range 250 {
		a, b, k := drawLossPair(r, 3), drawLossPair(r, 3), someK[i%len(someK)]
		if i >= 150 {
			k = drawBinomial(r)
		}
		d, err := Maximum([]*Pair{a.pair(step), b.pair(step)})
		if err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			d = &Pair{raised(d.removal, r), raised(d.addition, r)}
		}
		highest = math.Max(highest, math.Max(d.removal.total(), d.addition.total()))
		s := NewSelection(d, k, []int{3, 12, 48}[i%3])
		onGrid, _, err := s.Pair(by(step))
		if err != nil {
			t.Fatal(err)
		}
		for _, epsilon := range []float64{-2, -0.3, 0, 0.07, 0.2, 0.5, 1, 1.7, 3, 6, 9} {
			with, without := 0.0, 0.0
			for _, l := range []law{a, b} {
				permutations(len(l.p), func(score []int) {
					exact := l.best(k, score)
					with = math.Max(with, hockey(exact.p, exact.q, epsilon+2*massError)*(1-massError))
					without = math.Max(without, hockey(exact.q, exact.p, epsilon+2*massError)*(1-massError))
				})
			}
			for name, bound := range map[string]Profile{"selection": s, "on the grid": onGrid} {
				if remove, add := bound.Remove(epsilon), bound.Add(epsilon); !(remove >= with-1e-300 && add >= without-1e-300) {
					t.Errorf("%v, %v, %#v, %s, epsilon %v: %v and %v, but orders have %v and %v", a, b, k, name, epsilon, remove, add, with, without)
				}
			}
			if got := s.DeltaAt(epsilon); !(got >= math.Max(with, without)-1e-300 && got <= 1) {
				t.Errorf("%v, %v, %#v, epsilon %v: delta %v, but orders have %v and %v", a, b, k, epsilon, got, with, without)
			}
		}
	}
	if highest < 1.1 {
		t.Errorf("the largest sum of masses is %v: nothing to cut", highest)
	}
}

// TestSelectionOnTheGrid checks the pair on the grid against its selection, at all useful deltas and between the points
// at which the selection was evaluated.
func TestSelectionOnTheGrid(t *testing.T) {
	gaussian := func(noise, step float64) *Pair {
		d, _, err := Rows(by(step), 1, noise, 1, 1, false)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for _, c := range []struct {
		name string
		d    *Pair
		k    repetitions.Distribution
		end  float64 // added by the grid within a step of the largest loss
	}{
		{"noise 2", gaussian(2, 0.01), repetitions.Poisson{Mean: 15}, 0},
		{"noise 0.7", gaussian(0.7, 0.02), repetitions.NegativeBinomial{Shape: 1, Success: 0.1}, 0},
		{"noise 20", gaussian(20, 0.0005), repetitions.Poisson{Mean: 0.5}, 0},
		// Sudden falls.
		{"four outcomes", law{[]float64{0.3, 0.599, 0.1, 0.001}, []float64{0.35, 0.6, 0.05, 0}}.pair(0.001), repetitions.Poisson{Mean: 0.01}, 1e-6},
	} {
		d, step := c.d, c.d.removal.step
		s := NewSelection(d, c.k, 48)
		onGrid, evaluations, err := s.Pair(by(step))
		if err != nil {
			t.Fatal(err)
		}
		seen := 0
		for epsilon := 0.0; epsilon < 40; epsilon += 7.3 * step {
			// The lowest bound on a grid is the chord between the two points around epsilon.
			k := math.Floor(epsilon / step)
			share := math.Expm1(epsilon-k*step) / math.Expm1(step)
			for _, pair := range [][2]func(float64) float64{{s.Remove, onGrid.Remove}, {s.Add, onGrid.Add}} {
				truth, got := pair[0](k*step)*(1-share)+pair[0]((k+1)*step)*share, pair[1](epsilon)
				if truth < d.removal.faint()*s.copies {
					continue
				}
				seen++
				if got > truth*1.05+c.end {
					t.Errorf("%s, epsilon %v: %v on the grid, %v in truth", c.name, epsilon, got, truth)
				}
			}
		}
		t.Logf("%s: %d evaluations, %d comparisons", c.name, evaluations, seen)
		if last := s.Remove(0); seen < 50 || evaluations < 30 || evaluations > 1500 || last > 1 {
			t.Errorf("%s: %d evaluations, %d comparisons", c.name, evaluations, seen)
		}
	}
}

// TestSelectionFarOut asks beyond the largest loss.
func TestSelectionFarOut(t *testing.T) {
	d := law{p: []float64{0.3, 0.6, 0.1}, q: []float64{0.5, 0.5, 0}}.pair(0.1)
	s := NewSelection(d, repetitions.Poisson{Mean: 3}, 8)
	top := -math.Expm1(-0.3) // the last outcome, placed last
	for _, epsilon := range []float64{20, 599, 601, 800, 1e4, math.MaxFloat64} {
		if got := s.Remove(epsilon); !(got >= top && got <= top*(1+1e-6)) {
			t.Errorf("epsilon %v: %v, want %v", epsilon, got, top)
		}
	}
}

// TestPartsOfCellsAmongOthers has an order whose exact law once was above the bound, by 5e-4 of its value: the
// allowance for lower cells placed between parts of a cell that counts was too small.
func TestPartsOfCellsAmongOthers(t *testing.T) {
	d := law{
		[]float64{0.7478276909120892, 0.02318934494616287, 0.19650561786404586, 0.03247734627770206},
		[]float64{0.8589174569653621, 0.01930125835832385, 0.10468077188877548, 0.017100512787538595},
	}
	const pieces, c = 64, 2.514873723541387
	k := repetitions.Poisson{Mean: 4}
	score, rank := make([]int, 4*pieces), 0
	low, high := 176, 176
	for _, move := range []int{-112, 58, -1, 7, -1, 7, -1, 7, -1, 1, -60} {
		for ; move < 0; move++ {
			low--
			score[low], rank = rank, rank+1
		}
		for ; move > 0; move-- {
			score[high], rank = rank, rank+1
			high++
		}
	}
	l := d.split(pieces).best(k, score)
	exact := hockey(l.p, l.q, math.Log(c)) // K = 0 adds nothing
	if bound := d.cut(pieces, true, false, true, false).ordering(k).at(c); bound < exact*(1-1e-9) {
		t.Errorf("the bound of %v is below %v", bound, exact)
	}
}

// TestSpansOfSmallMasses compares spans with the function share, for masses of all sizes.
func TestSpansOfSmallMasses(t *testing.T) {
	for _, k := range append(someK, repetitions.NegativeBinomial{Shape: 3, Success: 0.2}, repetitions.NegativeBinomial{Shape: 1e-6, Success: 0.1}, repetitions.Binomial{Trials: 3, Probability: 1}, repetitions.Binomial{Trials: 9, Probability: 0.9}) {
		for _, w := range []float64{0, 1e-9, 0.01, 0.5} {
			for mass := 0.4; mass > 1e-15; mass /= 3 {
				got, want := math.Exp(k.LogSlope(w))*k.Span(w, mass), mass*share(k, w, mass)
				if math.Abs(got-want) > 1e-11*want {
					t.Errorf("%#v: phi rises by %v over %v beyond %v, want %v", k, got, mass, w, want)
				}
			}
		}
	}
}

// TestRareOutcomes checks the bound with outcomes of small masses, which decide at small deltas.
func TestRareOutcomes(t *testing.T) {
	for _, rare := range []float64{1e-6, 1e-11, 1e-19} {
		l := law{[]float64{1 - rare, rare}, []float64{1 - rare*math.Exp(-6), rare * math.Exp(-6)}}
		for _, k := range []repetitions.Distribution{repetitions.Poisson{Mean: 2}, repetitions.Poisson{Mean: 30}, repetitions.NegativeBinomial{Shape: 1, Success: 0.1}} {
			s := NewSelection(l.pair(0.01), k, CellCount)
			best := l.best(k, []int{0, 1})
			for _, epsilon := range []float64{1, 3, 5.5} {
				exact := hockey(best.p, best.q, epsilon)
				if got := s.Remove(epsilon); !(got >= exact*(1-1e-9) && got < 3*exact) {
					t.Errorf("rare %v, %#v, epsilon %v: %v, want %v", rare, k, epsilon, got, exact)
				}
			}
		}
	}
}
