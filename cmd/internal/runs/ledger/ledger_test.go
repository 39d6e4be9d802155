package ledger

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/internal/sketch"
)

// rows returns the data set of a file whose rows have the given numbers.
func rows(name string, numbers ...int) Data {
	var b sketch.Builder
	for _, n := range numbers {
		b.Add(uint64(n+1) * 0x9e3779b97f4a7c15)
	}
	return OfFile(name, len(numbers), b.Sketch())
}

// span returns the numbers from low to high.
func span(low, high int) (numbers []int) {
	for i := low; i < high; i++ {
		numbers = append(numbers, i)
	}
	return numbers
}

// gaussian returns a release by a Gaussian mechanism, with its own epsilon by the accountant.
func gaussian(t testing.TB, run string, d Data, noise, delta float64) Release {
	t.Helper()
	r, err := byGaussian(run, d, noise, delta)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func byGaussian(run string, d Data, noise, delta float64) (Release, error) {
	e := accountant.Gaussian{NoiseMultiplier: noise}
	g, err := accountant.Epsilon(e, delta, accountant.Options{})
	return Release{
		Run: run, Path: "/runs/" + run, Command: "tune", Data: d, Event: e, Epsilon: g.Epsilon, Delta: delta,
		Began: time.Date(2026, 11, 23, 13, 0, 0, 0, time.FixedZone("elsewhere", 3600)), Version: "test",
	}, err
}

func open(t testing.TB, dir string) *Ledger {
	t.Helper()
	l, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func record(t testing.TB, l *Ledger, all ...Release) (last Account) {
	t.Helper()
	for _, r := range all {
		var err error
		if last, err = l.Record(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	return last
}

func account(t testing.TB, l *Ledger, d Data, planned ...Release) Account {
	t.Helper()
	a, err := l.Account(d, planned...)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// exactGaussian returns the epsilon at delta of a Gaussian mechanism by Theorem 8 of Balle and Wang (2018).
func exactGaussian(noise, delta float64) float64 {
	phi := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	low, high := 0.0, 1e4
	for range 200 {
		mid := (low + high) / 2
		a, b := 1/(2*noise), mid*noise
		if phi(a-b)-math.Exp(mid)*phi(-a-b) > delta {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

// Gaussian mechanisms of noise s1, s2, … together are one of noise 1/sqrt(1/s1² + 1/s2² + …).
func TestGaussiansCompose(t *testing.T) {
	for name, noises := range map[string][]float64{
		"one":               {2},
		"two":               {2, 3},
		"two of a kind":     {2, 2},
		"five":              {4, 4, 4, 5, 6},
		"two hundred alike": slices.Repeat([]float64{30}, 200),
		"as many as fit":    {10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25},
	} {
		l, d := open(t, t.TempDir()), Named("mnist", 60000)
		var all []Release
		precision := 0.0
		for i, noise := range noises {
			all = append(all, gaussian(t, fmt.Sprint(i), d, noise, 1e-5))
			precision += 1 / (noise * noise)
		}
		got, want := account(t, l, d, all...).With, exactGaussian(1/math.Sqrt(precision), 1e-5)
		if got.Epsilon < want || got.Epsilon > want*1.002 || got.Delta != 1e-5 || got.Releases != len(noises) {
			t.Errorf("%s: epsilon %v at delta %v, want %v at 1e-5", name, got.Epsilon, got.Delta, want)
		}
		sum := 0.0
		for _, noise := range noises {
			sum += exactGaussian(noise, 1e-5)
		}
		if math.Abs(got.SumEpsilon/sum-1) > 2e-3 || math.Abs(got.SumDelta/(1e-5*float64(len(noises)))-1) > 1e-9 {
			t.Errorf("%s: sums %v and %v, want %v", name, got.SumEpsilon, got.SumDelta, sum)
		}
	}
}

// More different events than mode best takes are bounded by a sharper and a faster part.
func TestManyDifferentReleases(t *testing.T) {
	l, d := open(t, t.TempDir()), Named("mnist", 60000)
	var all []Release
	precision := 0.0
	for i := range 30 {
		noise := 20 + float64(i)
		all = append(all, gaussian(t, fmt.Sprint(i), d, noise, 1e-5))
		precision += 1 / (noise * noise)
	}
	got, want := account(t, l, d, all...).With, exactGaussian(1/math.Sqrt(precision), 1e-5)
	if got.Epsilon < want || got.Epsilon > 2*want || got.Epsilon > got.SumEpsilon {
		t.Errorf("epsilon %v at delta %v by %s, want %v and a little more", got.Epsilon, got.Delta, got.Bound, want)
	}
}

// If the sum of the two parts wins, each has half of delta: the sum isn't below the exact epsilon.
func TestPartsHaveHalfOfDeltaEach(t *testing.T) {
	l, d := open(t, t.TempDir()), Named("mnist", 60000)
	all := []Release{gaussian(t, "last", d, 999, 1e-5)} // last as text too
	precision := 0.0
	for noise := 20.; noise < 36; noise++ {
		all = append(all, gaussian(t, fmt.Sprint(noise), d, noise, 1e-5))
		precision += 1 / (noise * noise)
	}
	got, want := account(t, l, d, all...).With, exactGaussian(1/math.Sqrt(precision), 5e-6)+exactGaussian(999, 5e-6)
	if got.Epsilon < want || got.Epsilon > 1.05*want || !strings.Contains(got.Bound, "for 1 of 17 different releases Rényi: Gaussian mechanism") {
		t.Errorf("epsilon %v by %s, want %v", got.Epsilon, got.Bound, want)
	}
	groups, err := grouped(all)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for mode, part := range map[accountant.Mode][]group{accountant.Best: groups[:mostBest], accountant.Tight: groups[mostBest:]} {
		g, err := l.composer.guarantee(part, 5e-6, mode) // which the composer caches
		if err != nil {
			t.Fatal(err)
		}
		sum += g.Epsilon
	}
	if got.Epsilon < sum {
		t.Errorf("epsilon %v, and the parts have %v at half of delta each", got.Epsilon, sum)
	}
}

// A total at a fixed delta is never at another one. Without a fixed delta the total is the sums if these have the
// smaller epsilon.
func TestSums(t *testing.T) {
	d := Named("x", 10)
	// Statements far below the cost of their events, so that only the sums can be smaller.
	all := []Release{gaussian(t, "1", d, 1, 1e-5), gaussian(t, "2", d, 1, 1e-6)}
	all[0].Epsilon, all[1].Epsilon = 0.25, 0.5
	var c composer
	if got := smallestDelta(append(all, Release{Void: true, Delta: 1e-9})); got != 1e-6 {
		t.Errorf("the smallest delta is %v", got)
	}
	free, err := c.total(all, 1e-6)
	if err != nil || math.Abs(free.Epsilon-0.75) > 1e-9 || math.Abs(free.Delta-1.1e-5) > 1e-15 || free.Bound != sumBound {
		t.Errorf("%+v, %v, want epsilon 0.75 at delta 1.1e-5", free, err)
	}
	if got := sumUp([]Release{{Epsilon: 1}, {Epsilon: 0x1p-60}}, func(r Release) float64 { return r.Epsilon }); got <= 1 {
		t.Errorf("1 and a little more are %v; want it rounded up", got)
	}
	for delta, sums := range map[float64]bool{1e-6: false, 1e-5: false, 1.2e-5: true, 0.1: true} {
		fixed, err := c.totalAt(all, delta)
		if err != nil || fixed.Delta != delta || (fixed.Bound == sumBound) != sums {
			t.Errorf("at delta %v: %+v, %v", delta, fixed, err)
		}
		if want := exactGaussian(math.Sqrt(0.5), delta); !sums && fixed.Epsilon < want {
			t.Errorf("at delta %v: epsilon %v, want %v", delta, fixed.Epsilon, want)
		}
	}
}

func TestLine(t *testing.T) {
	l, d := open(t, t.TempDir()), rows("census.csv", span(0, 100)...)
	up4 := func(v float64) string {
		text := fmt.Sprintf("%.4f", math.Ceil(v*1e4)/1e4)
		return strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	one := gaussian(t, "1", d, 2, 1e-5)
	line := func(a Account, want string) {
		t.Helper()
		if got := a.Line("census.csv"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	line(account(t, l, d), "census.csv: no release so far")
	line(record(t, l, one), "census.csv: no release so far; this one makes epsilon "+up4(one.Epsilon)+" at delta 1e-05")
	line(account(t, l, d), "census.csv: 1 release so far, epsilon "+up4(one.Epsilon)+" at delta 1e-05")
	two := gaussian(t, "2", d, 2, 1e-5)
	both := record(t, l, two)
	e2 := up4(both.With.Epsilon)
	line(both, "census.csv: 1 release so far, epsilon "+up4(one.Epsilon)+" at delta 1e-05; this one makes "+e2)
	resumed := record(t, l, two)
	line(resumed, "census.csv: 1 release so far, epsilon "+up4(one.Epsilon)+" at delta 1e-05; this one makes "+e2)
	void := gaussian(t, "3", d, 0, 1e-5)
	void.Void = true
	line(record(t, l, void), "census.csv: 2 releases so far, epsilon "+e2+" together at delta 1e-05; this one has no guarantee, and no epsilon covers it")
	line(account(t, l, d), "census.csv: 2 releases so far, epsilon "+e2+" together at delta 1e-05, and 1 more without any guarantee")
	other := rows("other.csv", span(1000, 1100)...)
	lone := gaussian(t, "4", other, 0, 1e-5)
	lone.Void = true
	record(t, l, lone)
	line(account(t, l, other), "census.csv: no release so far with a guarantee, and 1 without any")
	if got := account(t, l, d).Line("a\nb\x1b[2J"); strings.ContainsAny(got, "\n\x1b") {
		t.Errorf("%q", got)
	}
}

// Files count as one data set if they share rows, directly or by a chain of others. Named ones count by name.
func TestWhatCountsAsOneDataSet(t *testing.T) {
	first, second, third := rows("a.csv", span(0, 1000)...), rows("b.csv", span(900, 1900)...), rows("c.csv", span(1850, 2850)...)
	apart := rows("a.csv", span(5000, 6000)...)
	renamed := first
	renamed.Name = "renamed.parquet"
	resorted := rows("resorted.csv", func() []int { n := span(0, 1000); slices.Reverse(n); return n }()...)
	extended, fewer := rows("extended.csv", span(0, 1700)...), rows("fewer.csv", span(500, 600)...)
	little := rows("little.csv", append(span(990, 1000), span(7000, 7990)...)...) // shares 1 % with the first
	mnist, other := Named("mnist", 60000), Named("fashion-mnist", 60000)
	edition := Named("mnist", 59999)
	for _, c := range []struct {
		recorded []Data
		asked    Data
		want     int
	}{
		{[]Data{first}, first, 1},
		{[]Data{first}, renamed, 1},
		{[]Data{first}, resorted, 1},
		{[]Data{first}, extended, 1},
		{[]Data{first}, fewer, 1},
		{[]Data{first}, apart, 0},
		{[]Data{first}, little, 0},
		{[]Data{first}, second, 1},
		{[]Data{first}, third, 0},
		{[]Data{first, second}, third, 2},
		{[]Data{first, second, third}, first, 3},
		{[]Data{first, apart, second, mnist}, third, 2},
		{[]Data{first, third}, second, 2},
		{[]Data{mnist, other, edition}, mnist, 2},
		{[]Data{mnist}, Named("a.csv", 60000), 0},
		{[]Data{rows("mnist", span(0, 10)...)}, mnist, 0},
	} {
		l := open(t, t.TempDir())
		for i, d := range c.recorded {
			record(t, l, gaussian(t, fmt.Sprint(i), d, 5, 1e-5))
		}
		if got := account(t, l, c.asked).Spent.Releases; got != c.want {
			t.Errorf("%d recorded, %s asked: %d releases, want %d", len(c.recorded), c.asked.Name, got, c.want)
		}
	}
}

func TestRecordIsOncePerRun(t *testing.T) {
	l, d := open(t, t.TempDir()), rows("a.csv", span(0, 100)...)
	r := gaussian(t, "1", d, 2, 1e-5)
	record(t, l, r)
	before, _ := l.store.read()
	moved := r
	moved.Path, moved.Version, moved.Data.Name = "/elsewhere", "newer", "renamed.csv"
	record(t, l, r, moved)
	after, _ := l.store.read()
	if len(after.releases) != 1 || after.releases[0].Path != before.releases[0].Path {
		t.Errorf("%+v, want one release as it was", after.releases)
	}
	for name, other := range map[string]Release{
		"event": gaussian(t, "1", d, 2.5, 1e-5), "data": gaussian(t, "1", rows("a.csv", span(0, 99)...), 2, 1e-5), "named": gaussian(t, "1", Named("a.csv", 100), 2, 1e-5),
		"void": func() Release { v := r; v.Void = true; return v }(),
	} {
		var wrong *FileError
		if _, err := l.Record(t.Context(), other); !errors.As(err, &wrong) || !strings.Contains(err.Error(), `run "1" is recorded with other data`) {
			t.Errorf("another %s: %v", name, err)
		}
	}
	if got := after.releases[0].Began; got.Location() != time.UTC || !got.Equal(r.Began) {
		t.Errorf("began %v, want %v in UTC", got, r.Began)
	}
}

func TestReleasesThatCannotBeRecorded(t *testing.T) {
	d := Named("mnist", 10)
	good := gaussian(t, "1", d, 2, 1e-5)
	for name, change := range map[string]func(*Release){
		"no run": func(r *Release) { r.Run = "" }, "no data": func(r *Release) { r.Data = Data{} }, "no event": func(r *Release) { r.Event = nil },
		"infinite": func(r *Release) { r.Epsilon = math.Inf(1) }, "NaN": func(r *Release) { r.Epsilon = math.NaN() }, "negative": func(r *Release) { r.Epsilon = -1 },
		"delta 0": func(r *Release) { r.Delta = 0 }, "delta 1": func(r *Release) { r.Delta = 1 },
		"wrong event": func(r *Release) { r.Event = accountant.Gaussian{NoiseMultiplier: -1} }, "rows": func(r *Release) { r.Data.Rows = -1 },
	} {
		l, r := open(t, t.TempDir()), good
		change(&r)
		if _, err := l.Record(t.Context(), r); err == nil {
			t.Errorf("%s: recorded", name)
		}
		if all, err := l.Releases(); err != nil || len(all) > 0 {
			t.Errorf("%s: %v, %v", name, all, err)
		}
	}
	l := open(t, t.TempDir())
	void := Release{Run: "1", Data: d, Void: true, Epsilon: math.Inf(1)}
	record(t, l, void)
	if a := account(t, l, d); a.Spent.Void != 1 || a.Spent.Releases != 0 || a.Spent.Epsilon != 0 {
		t.Errorf("%+v", a.Spent)
	}
}

// The totals don't depend on the order in which releases were recorded.
func TestOrderOfReleases(t *testing.T) {
	d := Named("mnist", 10)
	var all []Release
	for i := range 6 {
		all = append(all, gaussian(t, fmt.Sprint(i), d, 3+float64(i/2), 1e-5))
	}
	l := open(t, t.TempDir())
	want := account(t, l, d, all...).With
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	if got := account(t, open(t, t.TempDir()), d, all...).With; got.Epsilon != want.Epsilon {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// Events that a plan makes are composed, and recorded, like any other.
func TestTunings(t *testing.T) {
	d := Named("mnist", 60000)
	event := accountant.Variant1(0.1, accountant.Poisson{Mean: 15}, accountant.DPSGD(0.0213, 1.4833307, 1878))
	r := Release{Run: "1", Command: "tune", Data: d, Event: event, Epsilon: 4, Delta: 1e-5}
	l := open(t, t.TempDir())
	first := record(t, l, r)
	if first.With.Epsilon > 4 || first.With.Epsilon < 3.99 {
		t.Errorf("one release has epsilon %v, want its own 4", first.With.Epsilon)
	}
	r.Run = "2"
	// 5.46 by mode best; 10.28 by mode tight, and 8 by addition.
	if got := record(t, l, r).With; got.Epsilon > 5.5 || got.Epsilon < 5 || got.Delta != 1e-5 || got.SumEpsilon < 8 {
		t.Errorf("%+v", got)
	}
}

// Several releases are recorded at once, or none of them; earlier records stay as they are.
func TestRecordAll(t *testing.T) {
	l, d := open(t, t.TempDir()), Named("mnist", 60000)
	a, b, c := gaussian(t, "a", d, 4, 1e-5), gaussian(t, "b", d, 4, 1e-5), gaussian(t, "c", d, 4, 1e-5)
	if err := l.RecordAll(t.Context(), []Release{a, b}); err != nil {
		t.Fatal(err)
	}
	together, err := l.Account(d)
	if err != nil || together.Spent.Releases != 2 {
		t.Fatalf("%+v, %v", together.Spent, err)
	}
	if err := l.SetBudget(t.Context(), d, 1.01*together.Spent.Epsilon, 1e-5); err != nil {
		t.Fatal(err)
	}
	var over *BudgetError
	if err := l.RecordAll(t.Context(), []Release{b, c}); !errors.As(err, &over) {
		t.Errorf("one release more than the budget: %v", err)
	}
	cheap := gaussian(t, "cheap", d, 1e3, 1e-5) // which fits, alone
	if err := l.RecordAll(t.Context(), []Release{cheap, c}); !errors.As(err, &over) {
		t.Errorf("two more, of which the first fits: %v", err)
	}
	if err := l.RecordAll(t.Context(), []Release{a, b}); err != nil {
		t.Errorf("the same again: %v", err)
	}
	b.Delta /= 2
	b.Event = accountant.Gaussian{NoiseMultiplier: 5}
	if err := l.RecordAll(t.Context(), []Release{b}); err == nil {
		t.Error("another event of a recorded run: no error")
	}
	if all, err := l.Releases(); len(all) != 2 || err != nil {
		t.Errorf("%d releases, %v", len(all), err)
	}
}

// A run that is given twice is recorded once: a file with a run twice would be a damaged one. Two runs of one id are an
// error.
func TestRecordAllOfOneRunTwice(t *testing.T) {
	l := open(t, t.TempDir())
	mnist := Named("mnist", 60000)
	a := gaussian(t, "a", mnist, 3, 1e-5)
	if err := l.RecordAll(t.Context(), []Release{a, gaussian(t, "b", mnist, 3, 1e-5), a}); err != nil {
		t.Fatal(err)
	}
	if all, err := l.Releases(); err != nil || len(all) != 2 {
		t.Errorf("%d releases, %v", len(all), err)
	}
	if err := l.RecordAll(t.Context(), []Release{gaussian(t, "c", mnist, 3, 1e-5), gaussian(t, "c", mnist, 4, 1e-5)}); err == nil {
		t.Error("two events of one run: no error")
	}
}
