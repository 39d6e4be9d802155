package accountant

import (
	"encoding/json"
)

// eventJSON is the JSON form of an event, an object whose kind names the type and whose other members are its fields:
//
//	{"kind":"poisson_sampled","sampling_probability":0.01,"event":{"kind":"gaussian","noise_multiplier":2}}
//
// It is stable: run folders keep it.
type eventJSON struct {
	Kind                string      `json:"kind"`
	NoiseMultiplier     *float64    `json:"noise_multiplier,omitempty"`
	Slope               *float64    `json:"slope,omitempty"`
	Orders              []int       `json:"orders,omitempty"`
	SamplingProbability *float64    `json:"sampling_probability,omitempty"`
	Count               *int        `json:"count,omitempty"`
	Repetitions         Repetitions `json:"repetitions,omitempty"`
	Event               Event       `json:"event,omitempty"`
	Events              []Event     `json:"events,omitzero"`
	Tune                Event       `json:"tune,omitempty"`
	Base                Event       `json:"base,omitempty"`
}

func list(events []Event) []Event { return append([]Event{}, events...) }

type repetitionsJSON struct {
	Kind    string   `json:"kind"`
	Mean    *float64 `json:"mean,omitempty"`
	Rate    *float64 `json:"rate,omitempty"`
	Shape   *float64 `json:"shape,omitempty"`
	Success *float64 `json:"success,omitempty"`
}

// MarshalJSON implements json.Marshaler.
func (p Poisson) MarshalJSON() ([]byte, error) {
	return json.Marshal(repetitionsJSON{Kind: "poisson", Mean: &p.Mean})
}

// MarshalJSON implements json.Marshaler.
func (p TruncatedPoisson) MarshalJSON() ([]byte, error) {
	return json.Marshal(repetitionsJSON{Kind: "truncated_poisson", Rate: &p.Rate})
}

// MarshalJSON implements json.Marshaler.
func (d TruncatedNegativeBinomial) MarshalJSON() ([]byte, error) {
	return json.Marshal(repetitionsJSON{Kind: "truncated_negative_binomial", Shape: &d.Shape, Success: &d.Success})
}
