package ledger

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dptrain/dptrain/internal/show"
)

// Total is the cost of several releases together. All of it is private.
type Total struct {
	Releases int `json:"releases"` // with a guarantee
	Void     int `json:"void"`     // without any guarantee; no field below covers them

	Epsilon float64 `json:"epsilon"` // of all together, at Delta
	Delta   float64 `json:"delta"`
	Bound   string  `json:"bound"` // the source of Epsilon, in words

	// The sums of the releases' own epsilons and deltas, which also guarantee all of them together. SumDelta is larger
	// than Delta if there are several.
	SumEpsilon float64 `json:"sum_epsilon"`
	SumDelta   float64 `json:"sum_delta"`
}

// Account is the state of a data set: its releases so far, and the planned ones.
type Account struct {
	Data     []Data    // the recorded data sets that count as this one
	Releases []Release // recorded, the oldest first, without planned ones that are recorded already
	Planned  []Release

	Spent Total // of Releases
	With  Total // of Releases and Planned

	Budgets []Standing // the standing budgets, none if there is none

	near   []Data // data that may be the same, and aren't counted
	capped bool   // whether one of these has a standing budget
}

// Near returns what to decide if recorded data that aren't counted may be the same as the planned release's, or "".
func (a Account) Near() string {
	if len(a.near) == 0 {
		return ""
	}
	return fmt.Sprintf("%s may be the ledger's data set %s, of %d rows, in other columns or digits: if they are about the same people, give --same-as %[2]q, and what they cost adds up; if not, --new-data",
		show.Printable(a.Planned[0].Data.Name), show.Printable(a.near[0].Name), a.near[0].Rows)
}

// Line describes in one line the releases of a data set and, if there are planned releases, the total with them.
func (a Account) Line(name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", show.Printable(name), releases(a.Spent.Releases))
	if a.Spent.Apart() {
		b.WriteString(", " + a.Spent.Bound)
	} else if a.Spent.Releases > 0 {
		fmt.Fprintf(&b, ", epsilon %s", up(a.Spent.Epsilon))
		if a.Spent.Releases > 1 {
			b.WriteString(" together")
		}
		fmt.Fprintf(&b, " at delta %v", a.Spent.Delta)
	}
	switch {
	case a.Spent.Void > 0 && a.Spent.Releases == 0:
		fmt.Fprintf(&b, " with a guarantee, and %d without any", a.Spent.Void)
	case a.Spent.Void > 0:
		fmt.Fprintf(&b, ", and %d more without any guarantee", a.Spent.Void)
	}
	if len(a.Planned) == 0 {
		return b.String()
	}
	one := "this one makes"
	if len(a.Planned) > 1 {
		one = fmt.Sprintf("%d more make", len(a.Planned))
	}
	switch {
	case a.With.Releases == a.Spent.Releases:
		b.WriteString("; this one has no guarantee, and no epsilon covers it")
	case a.With.Apart():
		if !a.Spent.Apart() {
			fmt.Fprintf(&b, "; with %s it is %s", strings.TrimSuffix(strings.TrimSuffix(one, " makes"), " make"), a.With.Bound)
		}
	case a.Spent.Releases == 0:
		fmt.Fprintf(&b, "; %s epsilon %s at delta %v", one, up(a.With.Epsilon), a.With.Delta)
	case a.With.Delta != a.Spent.Delta:
		fmt.Fprintf(&b, "; %s %s at delta %v", one, up(a.With.Epsilon), a.With.Delta)
	default:
		fmt.Fprintf(&b, "; %s %s", one, up(a.With.Epsilon))
	}
	return b.String()
}

func releases(n int) string {
	switch n {
	case 0:
		return "no release so far"
	case 1:
		return "1 release so far"
	}
	return fmt.Sprintf("%d releases so far", n)
}

// up prints an epsilon with up to four decimals, rounded up.
func up(v float64) string { return decimals(v, 1) }

// down prints the rest of a budget, rounded down.
func down(v float64) string { return decimals(v, -1) }

func decimals(v, sign float64) string {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return "infinite"
	}
	text := strconv.FormatFloat(v, 'f', 4, 64)
	read, _ := strconv.ParseFloat(text, 64) // it was just printed
	if sign*read < sign*v {
		text = strconv.FormatFloat(read+sign*1e-4, 'f', 4, 64)
	}
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// account returns the account of the data of the planned releases, or of data.
func (b *book) account(c *composer, data Data, planned []Release) (Account, error) {
	from := []Data{data}
	a := Account{Planned: slices.Clone(planned)}
	for i := range a.Planned {
		same, near, err := b.decide(&a.Planned[i])
		if err != nil {
			return a, err
		}
		from, a.near = slices.Concat(from, []Data{planned[i].Data}, same), append(a.near, near...)
	}
	all := b.all()
	near, _ := b.connected(all, a.near...)
	a.Data, _ = b.connected(all, from...)
	belongs := func(d Data) bool { return slices.ContainsFunc(a.Data, d.equal) }
	for _, r := range b.releases {
		if belongs(r.Data) && !slices.ContainsFunc(planned, func(p Release) bool { return p.Run == r.Run }) {
			a.Releases = append(a.Releases, r)
		}
	}
	with := slices.Concat(a.Releases, planned)
	var err error
	delta := smallestDelta(with)
	if a.Spent, err = c.total(a.Releases, delta); err != nil {
		return a, err
	}
	if a.With, err = c.total(with, delta); err != nil {
		return a, err
	}
	for _, budget := range b.budgets {
		a.capped = a.capped || slices.ContainsFunc(near, budget.Data.equal)
		if !belongs(budget.Data) {
			continue
		}
		s := Standing{Budget: budget}
		if s.Spent, err = c.totalAt(a.Releases, budget.Delta); err != nil {
			return a, err
		}
		if s.With, err = c.totalAt(with, budget.Delta); err != nil {
			return a, err
		}
		a.Budgets = append(a.Budgets, s)
	}
	return a, nil
}
