package accountant

import (
	"encoding/json"
	"testing"
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
	}
}
