package accountant

import (
	"errors"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// jsonForms are the forms that ledgers and run folders of released versions hold. They must never change; new kinds may
// be added.
var jsonForms = []struct {
	event Event
	text  string
}{
	{Gaussian{NoiseMultiplier: 0.1}, `{"kind":"gaussian","noise_multiplier":0.1}`},
	{
		DPSGD(1e-7, 1.4833307, 1878),
		`{"kind":"self_composed","count":1878,"event":{"kind":"poisson_sampled","sampling_probability":1e-07,"event":{"kind":"gaussian","noise_multiplier":1.4833307}}}`,
	},
	{RDPLine{Slope: 0.05, Orders: Orders{Low: 2, High: 24}}, `{"kind":"rdp_line","slope":0.05,"low_order":2,"high_order":24}`},
	{Composed{Events: []Event{}}, `{"kind":"composed","events":[]}`},
	{
		Parallel{Events: []Event{Gaussian{NoiseMultiplier: 0}, Gaussian{NoiseMultiplier: math.MaxFloat64}}},
		`{"kind":"parallel","events":[{"kind":"gaussian","noise_multiplier":0},{"kind":"gaussian","noise_multiplier":1.7976931348623157e+308}]}`,
	},
	{
		Variant1(0.1, Poisson{Mean: 15}, MaxOver{Events: []Event{Gaussian{NoiseMultiplier: 2}}}),
		`{"kind":"subset_then_rest","sampling_probability":0.1,"tune":{"kind":"select_best","repetitions":{"kind":"poisson","mean":15},"event":{"kind":"max_over","events":[{"kind":"gaussian","noise_multiplier":2}]}},"base":{"kind":"max_over","events":[{"kind":"gaussian","noise_multiplier":2}]}}`,
	},
	{Baseline(TruncatedPoisson{Rate: 3}, Gaussian{NoiseMultiplier: 1}), `{"kind":"select_best","repetitions":{"kind":"truncated_poisson","rate":3},"event":{"kind":"gaussian","noise_multiplier":1}}`},
	{
		Baseline(TruncatedNegativeBinomial{Shape: -0.5, Success: 5e-324}, Gaussian{NoiseMultiplier: 1}),
		`{"kind":"select_best","repetitions":{"kind":"truncated_negative_binomial","shape":-0.5,"success":5e-324},"event":{"kind":"gaussian","noise_multiplier":1}}`,
	},
	{GroupOf{Event: Gaussian{NoiseMultiplier: 1}, Size: 5}, `{"kind":"group_of","size":5,"event":{"kind":"gaussian","noise_multiplier":1}}`},
	{
		OneOf{Events: []Event{Gaussian{NoiseMultiplier: 1}, Gaussian{NoiseMultiplier: 2}}, Weights: []float64{3, 0.5}},
		`{"kind":"one_of","weights":[3,0.5],"events":[{"kind":"gaussian","noise_multiplier":1},{"kind":"gaussian","noise_multiplier":2}]}`,
	},
	{
		Baseline(Binomial{Trials: 30, Probability: 0.5}, Gaussian{NoiseMultiplier: 1}),
		`{"kind":"select_best","repetitions":{"kind":"binomial","trials":30,"probability":0.5},"event":{"kind":"gaussian","noise_multiplier":1}}`,
	},
	{Baseline(Fixed{Trials: 8}, Gaussian{NoiseMultiplier: 1}), `{"kind":"select_best","repetitions":{"kind":"fixed","trials":8},"event":{"kind":"gaussian","noise_multiplier":1}}`},
}

func TestJSONForms(t *testing.T) {
	var lines []string
	for _, c := range jsonForms {
		text, err := MarshalEvent(c.event)
		if err != nil {
			t.Fatal(err)
		}
		if string(text) != c.text {
			t.Errorf("%#v:\n%s, want\n%s", c.event, text, c.text)
		}
		back, err := UnmarshalEvent([]byte(c.text))
		if err != nil || !reflect.DeepEqual(back, c.event) {
			t.Errorf("%s: %#v, %v", c.text, back, err)
		}
		lines = append(lines, c.text)
	}
	golden, err := os.ReadFile("testdata/events.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Split(strings.TrimSpace(string(golden)), "\n"); !reflect.DeepEqual(got, lines) {
		t.Errorf("testdata/events.jsonl has %q, want %q: what a version has written is never written or read otherwise", got, lines)
	}
}

// Default orders are written as their present values, and other notations of a text are read.
func TestJSONNotations(t *testing.T) {
	text, err := MarshalEvent(RDPLine{Slope: 1})
	if want := `{"kind":"rdp_line","slope":1,"low_order":2,"high_order":256}`; err != nil || string(text) != want {
		t.Errorf("%s, %v, want %s", text, err, want)
	}
	halves := OneOf{Events: []Event{Gaussian{NoiseMultiplier: 1}, Gaussian{NoiseMultiplier: 2}}}
	if text, err = MarshalEvent(halves); err != nil || !strings.Contains(string(text), `"weights":[1,1]`) {
		t.Errorf("%s, %v, want a weight of 1 each", text, err)
	}
	for text, want := range map[string]Event{
		" {\n\"noise_multiplier\" : 10.0e-1 , \"kind\":\"gaussian\"}\n": Gaussian{NoiseMultiplier: 1},
		`{"kind":"\u0067aussian","noise_multiplier":0e5}`:               Gaussian{},
		`{"kind":"gaussian","noise_multiplier":-0}`:                     Gaussian{NoiseMultiplier: math.Copysign(0, -1)},
	} {
		if e, err := UnmarshalEvent([]byte(text)); err != nil || !reflect.DeepEqual(e, want) {
			t.Errorf("%s: %#v, %v", text, e, err)
		}
	}
}

// nested returns a Gaussian mechanism at a depth, and its JSON form.
func nested(depth int) (Event, string) {
	e, text := Event(Gaussian{NoiseMultiplier: 1}), `{"kind":"gaussian","noise_multiplier":1}`
	for range depth - 1 {
		e, text = Composed{Events: []Event{e}}, `{"kind":"composed","events":[`+text+`]}`
	}
	return e, text
}

func TestWrongJSON(t *testing.T) {
	const gaussian = `{"kind":"gaussian","noise_multiplier":1}`
	_, deep := nested(65)
	for _, text := range []string{
		``, ` `, `null`, `[]`, `1`, `{}`, `{`, gaussian + gaussian, gaussian + `x`, gaussian[1:], gaussian[:len(gaussian)-1],
		`{"kind":"box"}`, `{"kind":null}`, `{"kind":1,"noise_multiplier":1}`, `{"Kind":"gaussian","noise_multiplier":1}`,
		`{"kind":"gaussian"}`, `{"kind":"gaussian","noise_multiplier":-1}`, `{"kind":"gaussian","noise_multiplier":null}`,
		`{"kind":"gaussian","noise_multiplier":"1"}`, `{"kind":"gaussian","noise_multiplier":NaN}`, `{"kind":"gaussian","noise_multiplier":Infinity}`,
		`{"kind":"gaussian","noise_multiplier":1e400}`, `{"kind":"gaussian","noise_multiplier":2e-400}`, `{"kind":"gaussian","Noise_Multiplier":1}`,
		`{"kind":"gaussian","noise_multiplier":1,"noise_multiplier":2}`, `{"kind":"gaussian","noise_multiplier":1,"extra":1}`,
		`{"kind":"gaussian","kind":"gaussian","noise_multiplier":1}`, `{"kind":"gaussian","noise_multiplier":0x1}`,
		`{"kind":"poisson_sampled","sampling_probability":1.5,"event":` + gaussian + `}`,
		`{"kind":"poisson_sampled","sampling_probability":1e-500,"event":` + gaussian + `}`,
		`{"kind":"self_composed","count":1.5,"event":` + gaussian + `}`, `{"kind":"self_composed","count":1e2,"event":` + gaussian + `}`,
		`{"kind":"self_composed","count":99999999999999999999,"event":` + gaussian + `}`, `{"kind":"self_composed","count":-1,"event":` + gaussian + `}`,
		`{"kind":"self_composed","count":1,"event":null}`, `{"kind":"self_composed","count":1}`,
		`{"kind":"composed","events":null}`, `{"kind":"composed","events":{}}`, `{"kind":"composed","events":[null]}`, `{"kind":"composed"}`,
		`{"kind":"max_over","events":[]}`, `{"kind":"parallel","events":[]}`, deep,
		`{"kind":"rdp_line","slope":1}`, `{"kind":"rdp_line","slope":-1,"low_order":2,"high_order":24}`,
		`{"kind":"rdp_line","slope":1,"low_order":0,"high_order":0}`, `{"kind":"rdp_line","slope":1,"low_order":24,"high_order":2}`,
		`{"kind":"select_best","repetitions":{"kind":"poisson","mean":1,"rate":1},"event":` + gaussian + `}`,
		`{"kind":"select_best","repetitions":{"kind":"poisson","mean":0},"event":` + gaussian + `}`,
		`{"kind":"select_best","repetitions":` + gaussian + `,"event":` + gaussian + `}`, `{"kind":"fixed","trials":2}`,
		`{"kind":"select_best","repetitions":{"kind":"uniform"},"event":` + gaussian + `}`,
		`{"kind":"select_best","repetitions":null,"event":` + gaussian + `}`, `{"kind":"select_best","event":` + gaussian + `}`,
		`{"kind":"composed","events":[` + strings.Repeat(gaussian+",", 30000) + gaussian + `]}`, strings.Repeat("[", 1<<19),
	} {
		e, err := UnmarshalEvent([]byte(text))
		if !errors.Is(err, ErrInvalid) || e != nil {
			t.Errorf("%.200s: %#v, %v, want an error that wraps ErrInvalid", text, e, err)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("%.200s: an error of several lines: %v", text, err)
		}
	}
}

func TestEventsThatJSONRefuses(t *testing.T) {
	deepest, _ := nested(64)
	if _, err := MarshalEvent(deepest); err != nil {
		t.Errorf("64 levels: %v", err)
	}
	tooDeep, _ := nested(65)
	shared := Event(Gaussian{NoiseMultiplier: 1}) // 2⁴⁰ events, if they were written out
	for range 40 {
		shared = Composed{Events: []Event{shared, shared}}
	}
	for name, e := range map[string]Event{
		"nil": nil, "a pointer": &Gaussian{NoiseMultiplier: 1}, "NaN": Gaussian{NoiseMultiplier: math.NaN()}, "infinite": Gaussian{NoiseMultiplier: math.Inf(1)},
		"no part": SelfComposed{Count: 1}, "a nil part": Composed{Events: []Event{nil}}, "no repetitions": SelectBest{Event: Gaussian{}},
		"a pointer to repetitions": SelectBest{Event: Gaussian{NoiseMultiplier: 1}, Repetitions: &Poisson{Mean: 1}},
		"a negative count":         SelfComposed{Event: Gaussian{NoiseMultiplier: 1}, Count: -1},
		"no candidates":            MaxOver{}, "too deep": tooDeep, "too large": shared,
		"orders": RDPLine{Slope: 1, Orders: Orders{Low: 5, High: 4}},
	} {
		if text, err := MarshalEvent(e); !errors.Is(err, ErrInvalid) || text != nil {
			t.Errorf("%s: %.80s, %v, want an error that wraps ErrInvalid", name, text, err)
		}
	}
}

// anyEvent draws an event of any kind.
func anyEvent(t *rapid.T, depth int) Event {
	positive := func(name string) float64 {
		return math.Abs(rapid.Float64Range(5e-324, math.MaxFloat64).Draw(t, name))
	}
	part := func() Event { return anyEvent(t, depth-1) }
	parts := func(least int) []Event {
		events := make([]Event, rapid.IntRange(least, 3).Draw(t, "parts"))
		for i := range events {
			events[i] = part()
		}
		return events
	}
	probability := func() float64 { return rapid.Float64Range(0, 1).Draw(t, "probability") }
	most := 9
	if depth <= 0 {
		most = 1
	}
	switch rapid.IntRange(0, most).Draw(t, "kind") {
	case 0:
		return Gaussian{NoiseMultiplier: rapid.Float64Range(0, math.MaxFloat64).Draw(t, "noise")}
	case 1:
		low := rapid.IntRange(2, 256).Draw(t, "low")
		return RDPLine{Slope: positive("slope"), Orders: Orders{Low: low, High: rapid.IntRange(low, MaxOrder).Draw(t, "high")}}
	case 2:
		return PoissonSampled{SamplingProbability: probability(), Event: part()}
	case 3:
		return SelfComposed{Event: part(), Count: rapid.IntRange(0, math.MaxInt).Draw(t, "count")}
	case 4:
		return Composed{Events: parts(0)}
	case 5:
		return MaxOver{Events: parts(1)}
	case 6:
		return Parallel{Events: parts(1)}
	case 7:
		return SubsetThenRest{SamplingProbability: probability(), Tune: part(), Base: part()}
	case 8:
		o := OneOf{Events: parts(1)}
		for range o.Events {
			o.Weights = append(o.Weights, rapid.Float64Range(5e-324, 1e300).Draw(t, "weight"))
		}
		return o
	}
	k := []Repetitions{
		Poisson{Mean: positive("mean")}, TruncatedPoisson{Rate: positive("rate")},
		TruncatedNegativeBinomial{Shape: rapid.Float64Range(-0.999, 1e9).Draw(t, "shape"), Success: rapid.Float64Range(1e-300, 1).Draw(t, "success")},
		Binomial{Trials: rapid.IntRange(1, 2e6).Draw(t, "trials"), Probability: rapid.Float64Range(1e-300, 1).Draw(t, "probability")}, Fixed{Trials: 3},
	}
	return SelectBest{Event: part(), Repetitions: rapid.SampledFrom(k).Draw(t, "repetitions")}
}

// Every valid event is read back as it was written, bit for bit.
func TestJSONRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := anyEvent(t, 3)
		text, err := MarshalEvent(e)
		if err != nil {
			t.Fatal(err)
		}
		back, err := UnmarshalEvent(text)
		if err != nil || !reflect.DeepEqual(back, e) {
			t.Fatalf("%s: %#v, %v", text, back, err)
		}
	})
}

func FuzzUnmarshalEvent(f *testing.F) {
	for _, c := range jsonForms {
		f.Add([]byte(c.text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := UnmarshalEvent(data)
		if err != nil {
			if !errors.Is(err, ErrInvalid) {
				t.Errorf("%s: %v doesn't wrap ErrInvalid", data, err)
			}
			return
		}
		text, err := MarshalEvent(e)
		if err != nil {
			t.Fatal(err)
		}
		back, err := UnmarshalEvent(text)
		if err != nil || !reflect.DeepEqual(back, e) {
			t.Fatalf("%s: %s: %#v, %v", data, text, back, err)
		}
	})
}
