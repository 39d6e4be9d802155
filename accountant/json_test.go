package accountant

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var jsonEvents = []struct {
	event Event
	text  string
}{
	{DPSGD(0.01, 2, 5000), `{"kind":"self_composed","count":5000,"event":{"kind":"poisson_sampled","sampling_probability":0.01,"event":{"kind":"gaussian","noise_multiplier":2}}}`},
	{RDPLine{0.05, Orders{2, 24}}, `{"kind":"rdp_line","slope":0.05,"orders":[2,24]}`},
	{Composed{Events: []Event{}}, `{"kind":"composed","events":[]}`},
	{Parallel{Events: []Event{Gaussian{0}, Gaussian{1}}}, `{"kind":"parallel","events":[{"kind":"gaussian","noise_multiplier":0},{"kind":"gaussian","noise_multiplier":1}]}`},
	{
		Variant1(0.1, Poisson{15}, MaxOver{Events: []Event{Gaussian{1}}}),
		`{"kind":"subset_then_rest","sampling_probability":0.1,"tune":{"kind":"select_best","repetitions":{"kind":"poisson","mean":15},"event":{"kind":"max_over","events":[{"kind":"gaussian","noise_multiplier":1}]}},"base":{"kind":"max_over","events":[{"kind":"gaussian","noise_multiplier":1}]}}`,
	},
	{Baseline(TruncatedPoisson{3}, Gaussian{1}), `{"kind":"select_best","repetitions":{"kind":"truncated_poisson","rate":3},"event":{"kind":"gaussian","noise_multiplier":1}}`},
	{Baseline(TruncatedNegativeBinomial{0, 0.5}, Gaussian{1}), `{"kind":"select_best","repetitions":{"kind":"truncated_negative_binomial","shape":0,"success":0.5},"event":{"kind":"gaussian","noise_multiplier":1}}`},
}

func TestJSONForm(t *testing.T) {
	for _, c := range jsonEvents {
		text, err := json.Marshal(c.event)
		if err != nil {
			t.Fatal(err)
		}
		if string(text) != c.text {
			t.Errorf("%#v:\n%s, want\n%s", c.event, text, c.text)
		}
		back, err := ParseEvent(text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.event, back); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
	for _, text := range []string{
		``, `null`, `{}`, `{"kind":"gaussian"}`, `{"kind":"gaussian","noise_multiplier":-1}`, `{"kind":"box"}`,
		`{"kind":"rdp_line","slope":1}`, `{"kind":"rdp_line","slope":-1,"orders":[2,24]}`, `{"kind":"rdp_line","slope":1,"orders":[24]}`,
		`{"kind":"rdp_line","slope":1,"orders":[0,0]}`, `{"kind":"rdp_line","slope":1,"orders":[24,2]}`, `{"kind":"rdp_line","slope":1,"orders":[2,1025]}`,
		`{"kind":"gaussian","noise_multiplier":1,"extra":1}`, `{"kind":"max_over","events":[]}`,
		`{"kind":"self_composed","count":1.5,"event":{"kind":"gaussian","noise_multiplier":1}}`,
		`{"kind":"self_composed","count":1,"event":null}`, `{"kind":"composed","events":[null]}`,
		`{"kind":"select_best","repetitions":{"kind":"poisson","mean":1,"rate":1},"event":{"kind":"gaussian","noise_multiplier":1}}`,
	} {
		if e, err := ParseEvent([]byte(text)); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %#v, %v, want ErrInvalid", text, e, err)
		}
	}
}

func FuzzParseEvent(f *testing.F) {
	for _, c := range jsonEvents {
		f.Add([]byte(c.text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := ParseEvent(data)
		if err != nil {
			if !errors.Is(err, ErrInvalid) {
				t.Errorf("%s: error %v of no kind", data, err)
			}
			return
		}
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		back, err := ParseEvent(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if diff := cmp.Diff(e, back); diff != "" {
			t.Errorf("%s: %s", data, diff)
		}
	})
}
