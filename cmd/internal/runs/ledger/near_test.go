package ledger

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/sketch"
)

// saved returns the data set of a file with rows of a common column, and of other ones, by which no row is the same.
func saved(name string, columns uint64, numbers ...int) Data {
	var all sketch.Builder
	var c sketch.Columns
	for _, n := range numbers {
		h := rand.New(rand.NewPCG(1, uint64(n))).Uint64()
		c.Add([]sketch.Value{{Hashes: [3]uint64{h, h, h}}})
		all.Add(h * columns)
	}
	return OfFile(name, len(numbers), all.Sketch().With(&c))
}

// Data that seem alike are refused under a standing budget until a decision, which is remembered.
func TestDataThatSeemAlike(t *testing.T) {
	first, again, third := saved("train.csv", 3, span(0, 100)...), saved("again.csv", 5, span(0, 100)...), saved("third.csv", 7, span(0, 60)...)
	unrelated := rows("train.csv", span(5000, 5050)...)
	release := func(run string, d Data, said Decision) Release {
		r := gaussian(t, run, d, 4, 1e-5)
		r.Decision = said
		return r
	}
	for name, c := range map[string]struct {
		said  Decision
		with  int // releases that the second file's is added to
		third int // and the third one's, if it is the same as again.csv
	}{
		"the same":                {Decision{SameAs: []string{"train.csv"}}, 1, 4},
		"new":                     {Decision{New: true}, 0, 2},
		"the same, and no others": {Decision{SameAs: []string{"train.csv"}, New: true}, 1, 4},
	} {
		l := open(t, t.TempDir())
		record(t, l, release("1", first, Decision{}), release("unrelated", unrelated, Decision{}))
		if a := account(t, l, again, release("2", again, Decision{})); !strings.Contains(a.Near(), "again.csv may be the ledger's data set train.csv, of 100 rows") || a.Refusal() != nil {
			t.Errorf("%s, without a budget: %q, %v", name, a.Near(), a.Refusal())
		}
		setBudget(t, l, first, 100, 1e-5)
		setBudget(t, l, rows("other.csv", 9999), 100, 1e-5)
		var refused *BudgetError
		if _, err := l.Record(t.Context(), release("2", again, Decision{})); !errors.As(err, &refused) || !strings.Contains(err.Error(), `--same-as "train.csv"`) || !strings.Contains(err.Error(), "--new-data") {
			t.Fatalf("%s: %v", name, err)
		}
		for _, names := range [][]string{{"trian.csv"}, {"train.csv", "trian.csv"}, {"trian.csv", "train.csv"}} {
			if _, err := l.Record(t.Context(), release("2", again, Decision{SameAs: names})); err == nil || errors.As(err, &refused) || !strings.Contains(err.Error(), `no data set "trian.csv"`) {
				t.Errorf("%s, %q: %v", name, names, err)
			}
		}
		if a := record(t, l, release("2", again, c.said)); a.Spent.Releases != c.with || a.Near() != "" {
			t.Errorf("%s: added to %d releases, want %d; %q", name, a.Spent.Releases, c.with, a.Near())
		}
		// The flag again, and no flag.
		for _, r := range []Release{release("3", again, c.said), release("4", first, Decision{})} {
			if a := record(t, l, r); a.Near() != "" || a.Spent.Releases != map[string]int{"3": 1 + c.with, "4": 1 + 2*c.with}[r.Run] {
				t.Errorf("%s: run %s is added to %d releases; %q", name, r.Run, a.Spent.Releases, a.Near())
			}
		}
		if _, err := l.Record(t.Context(), release("5", third, Decision{})); !errors.As(err, &refused) {
			t.Errorf("%s: a third file: %v", name, err)
		}
		if a := account(t, l, third, release("5", third, Decision{SameAs: []string{"again.csv"}, New: true})); a.Spent.Releases != c.third {
			t.Errorf("%s: the third file is added to %d, want %d", name, a.Spent.Releases, c.third)
		}
		if a := account(t, l, third, release("5", third, Decision{SameAs: []string{"train.csv", "again.csv"}})); a.Spent.Releases != 4 || a.Near() != "" {
			t.Errorf("%s: the third file is added to %d of both; %q", name, a.Spent.Releases, a.Near())
		}
		if _, err := l.Record(t.Context(), release("6", rows("train.csv", span(7000, 7100)...), Decision{})); !errors.As(err, &refused) {
			t.Errorf("%s: the name and the number of rows: %v", name, err)
		}
		few := rows("train.csv", append(span(8000, 8099), 5049)...) // 1 of its 100 rows, as after rounding
		few.Rows = 60                                               // of which units keep some
		if _, err := l.Record(t.Context(), release("6", few, Decision{})); !errors.As(err, &refused) {
			t.Errorf("%s: the name, the number of rows, and too few of them: %v", name, err)
		}
		record(t, l, release("far", rows("far.csv", span(9000, 9100)...), Decision{})) // near to none
		if a := account(t, l, third, release("5", third, Decision{SameAs: []string{"again.csv", "far.csv"}, New: true})); a.Spent.Releases != c.third+1 {
			t.Errorf("%s: the third file is added to %d of a near and a far one, want %d", name, a.Spent.Releases, c.third+1)
		}
		// A budget of other data asks nothing.
		if _, err := l.RemoveBudget(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		if a := record(t, l, release("5", third, Decision{})); a.Near() == "" {
			t.Errorf("%s: no warning", name)
		}
		setBudget(t, l, third, 100, 1e-5)
		if _, err := l.Record(t.Context(), release("7", third, Decision{})); !errors.As(err, &refused) {
			t.Errorf("%s: the third file has a budget: %v", name, err)
		}
	}
}

// A budget stands for the data that share rows with its own, so it asks about files that seem alike to those.
func TestAlikeToDataOfABudget(t *testing.T) {
	l := open(t, t.TempDir())
	first, cousin, again := saved("train.csv", 3, span(0, 100)...), saved("cousin.csv", 3, span(80, 400)...), saved("again.csv", 5, span(0, 100)...)
	record(t, l, gaussian(t, "1", first, 4, 1e-5), gaussian(t, "2", cousin, 4, 1e-5))
	setBudget(t, l, cousin, 100, 1e-5)
	if _, err := l.Record(t.Context(), gaussian(t, "3", again, 4, 1e-5)); !errors.As(err, new(*BudgetError)) || again.near(cousin) {
		t.Errorf("%v", err)
	}
}

// A release of an old ledger has no columns. The same file brings them, so that it is recognised from then on.
func TestOldSketchesGetColumns(t *testing.T) {
	first, again := saved("train.csv", 3, span(0, 100)...), saved("again.csv", 5, span(0, 100)...)
	var all sketch.Builder
	for _, n := range span(0, 100) {
		all.Add(3 * rand.New(rand.NewPCG(1, uint64(n))).Uint64())
	}
	old := OfFile("train.csv", 100, all.Sketch())
	l := open(t, t.TempDir())
	record(t, l, gaussian(t, "1", old, 4, 1e-5))
	if a := account(t, l, again, gaussian(t, "2", again, 4, 1e-5)); a.Near() != "" {
		t.Errorf("alike without columns: %q", a.Near())
	}
	if a := record(t, l, gaussian(t, "2", first, 4, 1e-5)); a.Spent.Releases != 1 {
		t.Error("the old sketch isn't recognised")
	}
	if a := account(t, l, again, gaussian(t, "3", again, 4, 1e-5)); a.Near() == "" {
		t.Error("the columns are lost")
	}
}
