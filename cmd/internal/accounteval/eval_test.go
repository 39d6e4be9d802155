package accounteval

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/accountant"
)

// reference is accountant/testdata/accounting.json; the README.md beside it says where it comes from.
type reference struct {
	Functions map[string]string `json:"functions"`
	Cases     []referenceCase
	Figure    struct {
		Params json.RawMessage
		Base   float64 `json:"base_epsilon"`
		Series []struct {
			Mu       float64
			Baseline float64 `json:"baseline_epsilon"`
			Tight    float64 `json:"baseline_epsilon_tight"`
			Q        []float64
			Variant1 []float64 `json:"variant1_epsilon"`
			Variant2 []float64 `json:"variant2_epsilon"`
		}
	} `json:"figure_compare_dp_bounds"`
}

type referenceCase struct {
	ID       string
	Function string
	Params   json.RawMessage
	Value    json.RawMessage
	Sense    string
}

func (c referenceCase) check(t *testing.T) {
	t.Helper()
	want := math.Inf(1)
	if string(c.Value) != `"inf"` {
		if err := json.Unmarshal(c.Value, &want); err != nil {
			t.Fatal(c.ID, err)
		}
	}
	got, err := Evaluate(c.Function, c.Params)
	if err != nil {
		t.Errorf("%s: %v", c.ID, err)
		return
	}
	judge(t, c.ID+" "+c.Function, got, want, c.Sense == "at_most")
}

func readReference(t testing.TB) reference {
	t.Helper()
	data, err := os.ReadFile("../../../accountant/testdata/accounting.json")
	if err != nil {
		t.Fatal(err)
	}
	var r reference
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// judge applies the reference's own rules: at most 1e-9 relative on the unsafe side and 1e-6 on the safe side.
func judge(t *testing.T, name string, got, want float64, atMost bool) {
	t.Helper()
	rel := (got - want) / want
	switch {
	case math.IsInf(want, 1):
		if got != want {
			t.Errorf("%s: %v, want no finite answer", name, got)
		}
		return
	case want == 0:
		rel = got * 1e6 // |got| <= 1e-12
	}
	if atMost {
		rel = -rel
	}
	if !(rel >= -1e-9 && rel <= 1e-6) {
		t.Errorf("%s: %.17g, want %.17g: off by %.2e on the safe side", name, got, want, rel)
	}
}

func TestReferenceCases(t *testing.T) {
	r := readReference(t)
	if len(r.Cases) != 80 || len(r.Functions) != len(functions) {
		t.Fatalf("%d cases of %d functions, want 80 of %d", len(r.Cases), len(r.Functions), len(functions))
	}
	for _, c := range r.Cases {
		c.check(t)
	}
}

func readExtremes(t testing.TB) []referenceCase {
	t.Helper()
	data, err := os.ReadFile("../../../accountant/testdata/extremes.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []referenceCase
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

// TestExtremes covers rates from 1e-6, a million steps, noise from 0.3 to 100, delta 1e-12 and orders to 1024.
func TestExtremes(t *testing.T) {
	cases := readExtremes(t)
	if len(cases) < 100 {
		t.Fatalf("only %d cases", len(cases))
	}
	for _, c := range cases {
		c.check(t)
	}
}

// TestFigure recomputes the paper's Figure compare_dp_bounds: 99 rates of both variants for each mean.
func TestFigure(t *testing.T) {
	f := readReference(t).Figure
	base, o := accountant.DPSGD(0.01, 2, 5000), accountant.Options{Mode: accountant.Paper}
	check := func(name string, e accountant.Event, o accountant.Options, want float64) {
		t.Helper()
		g, err := accountant.Epsilon(e, 1e-5, o)
		if err != nil {
			t.Fatal(err)
		}
		judge(t, name, g.Epsilon, want, false)
	}
	check("base", base, o, f.Base)
	for _, s := range f.Series {
		k := accountant.Poisson{Mean: s.Mu}
		check("baseline", accountant.Baseline(k, base), o, s.Baseline)
		check("baseline tight", accountant.Baseline(k, base), accountant.Options{Mode: accountant.Tight}, s.Tight)
		for i, q := range s.Q {
			if i%7 != 0 && testing.Short() {
				continue
			}
			check("variant 1", accountant.Variant1(q, k, base), o, s.Variant1[i])
			check("variant 2", accountant.Variant2(q, k, base), o, s.Variant2[i])
		}
	}
}

func TestEvaluateRefuses(t *testing.T) {
	for _, c := range []struct{ function, params, want string }{
		{"nonsense", `{}`, "function"},
		{"rdp_to_epsilon", `[]`, "not a JSON object"},
		{"rdp_to_epsilon", `{"alpha":2,"rdp":1,"delta":1e-5} x`, "follows"},
		{"rdp_to_epsilon", `{"alpha":2,"rdp":1}`, `"delta" is missing`},
		{"rdp_to_epsilon", `{"alpha":2,"rdp":1,"delta":1e-5,"gamma":1}`, `unknown parameter "gamma"`},
		{"rdp_to_epsilon", `{"alpha":2,"rdp":1,"Delta":1e-5}`, `"delta" is missing`},
		{"rdp_to_epsilon", `{"alpha":2,"alpha":3,"rdp":1,"delta":1e-5}`, `"alpha" stands twice`},
		{"rdp_to_epsilon", `{"alpha":2.5,"rdp":1,"delta":1e-5}`, "integer"},
		{"rdp_to_epsilon", `{"alpha":1,"rdp":1,"delta":1e-5}`, "integer"},
		{"rdp_to_epsilon", `{"alpha":2,"rdp":null,"delta":1e-5}`, "null"},
		{"rdp_to_epsilon", `{"alpha":2,"rdp":"1","delta":1e-5}`, `"rdp"`},
		{"rdp_to_epsilon", `{"alpha":2,"rdp":1e999,"delta":1e-5}`, `"rdp"`},
		{"rdp_to_epsilon", `{"alpha":2,"rdp":1,"delta":2}`, "[0, 1]"},
		{"rdp_subsampled_gaussian", `{"gamma":-1,"sigma":1,"alpha":2}`, "[0, 1]"},
		{"rdp_subsampled_gaussian", `{"gamma":0.1,"sigma":1,"alpha":1025}`, "1024"},
		{"dp_epsilon", `{"base":{"kind":"line","c":0.1},"delta":1e-5,"orders":[2]}`, "[low, high]"},
		{"dp_epsilon", `{"base":{"kind":"line","c":0.1},"delta":1e-5,"orders":[1,9]}`, "orders"},
		{"dp_epsilon", `{"base":{"kind":"line","c":0.1},"delta":1e-5,"mode":"loose"}`, "mode"},
		{"dp_epsilon", `{"base":{"kind":"box"},"delta":1e-5}`, "kind"},
		{"dp_epsilon", `{"base":{"kind":"grid","members":[]},"delta":1e-5}`, "without members"},
		{"dp_epsilon", `{"base":{"kind":"dpsgd","gamma":0.1,"sigma":1,"steps":-1},"delta":1e-5}`, "steps"},
	} {
		_, err := Evaluate(c.function, []byte(c.params))
		if !errors.Is(err, accountant.ErrInvalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: error %v, want one about %s", c.function, c.params, err, c.want)
		}
	}
}

// Functions of single orders compose theorems by themselves, and must do it like the accountant: within the orders of
// the options, the curves have the same bits.
func TestCurvesAreTheAccountants(t *testing.T) {
	type tuning struct {
		Base   json.RawMessage
		Mu, Q  float64
		Alpha  int
		Orders [2]int
		Mode   accountant.Mode
	}
	compared := 0
	for _, c := range append(readReference(t).Cases, readExtremes(t)...) {
		event := map[string]func(x tuning, base accountant.Event) accountant.Event{
			"tune_rdp": func(x tuning, base accountant.Event) accountant.Event {
				return accountant.Baseline(accountant.Poisson{Mean: x.Mu}, base)
			},
			"tune_rdp_truncated": func(x tuning, base accountant.Event) accountant.Event {
				return accountant.Baseline(accountant.TruncatedPoisson{Rate: x.Mu}, base)
			},
			"variant1_rdp": func(x tuning, base accountant.Event) accountant.Event {
				return accountant.Variant1(x.Q, accountant.Poisson{Mean: x.Mu}, base)
			},
			"variant2_rdp": func(x tuning, base accountant.Event) accountant.Event {
				return accountant.Variant2(x.Q, accountant.Poisson{Mean: x.Mu}, base)
			},
		}[c.Function]
		if event == nil {
			continue
		}
		x := tuning{Mode: accountant.Paper, Orders: [2]int{2, 256}}
		if err := json.Unmarshal(c.Params, &x); err != nil {
			t.Fatal(err)
		}
		if x.Alpha > x.Orders[1] {
			continue
		}
		base, err := parseBase(x.Base)
		if err != nil {
			t.Fatal(err)
		}
		o := accountant.Options{Mode: x.Mode, Orders: accountant.Orders{Low: x.Orders[0], High: x.Orders[1]}}
		want, err := accountant.RDP(event(x, base), o)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Evaluate(c.Function, c.Params)
		if err != nil || got != want[x.Alpha] {
			t.Errorf("%s %s: %v, %v, the accountant's curve has %v", c.ID, c.Function, got, err, want[x.Alpha])
		}
		compared++
	}
	if compared < 50 {
		t.Errorf("only %d comparisons", compared)
	}
}

func FuzzEvaluate(f *testing.F) {
	for _, c := range readReference(f).Cases {
		f.Add(c.Function, []byte(c.Params))
	}
	f.Fuzz(func(t *testing.T, function string, params []byte) {
		if len(params) > 1000 {
			t.Skip("large grids take long")
		}
		value, err := Evaluate(function, params)
		switch {
		case err != nil && !errors.Is(err, accountant.ErrInvalid):
			t.Errorf("%s %s: error %v of no kind", function, params, err)
		case err == nil && !(value >= 0):
			t.Errorf("%s %s: %v", function, params, value)
		}
	})
}
