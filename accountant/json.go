package accountant

import (
	"encoding/json"
	"fmt"
)

// The JSON form of an event is an object whose kind names the type and whose other members are its fields:
//
//	{"kind":"poisson_sampled","sampling_probability":0.01,"event":{"kind":"gaussian","noise_multiplier":2}}
//
// It is stable: ledgers and run folders keep it.
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

// MarshalJSON implements json.Marshaler.
func (g Gaussian) MarshalJSON() ([]byte, error) {
	return json.Marshal(eventJSON{Kind: "gaussian", NoiseMultiplier: &g.NoiseMultiplier})
}

// MarshalJSON implements json.Marshaler. It writes the orders out, as [low, high], where they are left to the default.
func (l RDPLine) MarshalJSON() ([]byte, error) {
	o := l.orders()
	return json.Marshal(eventJSON{Kind: "rdp_line", Slope: &l.Slope, Orders: []int{o.Low, o.High}})
}

// MarshalJSON implements json.Marshaler.
func (p PoissonSampled) MarshalJSON() ([]byte, error) {
	return json.Marshal(eventJSON{Kind: "poisson_sampled", SamplingProbability: &p.SamplingProbability, Event: p.Event})
}

// MarshalJSON implements json.Marshaler.
func (s SelfComposed) MarshalJSON() ([]byte, error) {
	return json.Marshal(eventJSON{Kind: "self_composed", Count: &s.Count, Event: s.Event})
}

// MarshalJSON implements json.Marshaler.
func (c Composed) MarshalJSON() ([]byte, error) {
	return json.Marshal(eventJSON{Kind: "composed", Events: list(c.Events)})
}

// MarshalJSON implements json.Marshaler.
func (s SelectBest) MarshalJSON() ([]byte, error) {
	return json.Marshal(eventJSON{Kind: "select_best", Repetitions: s.Repetitions, Event: s.Event})
}

// MarshalJSON implements json.Marshaler.
func (m MaxOver) MarshalJSON() ([]byte, error) {
	return json.Marshal(eventJSON{Kind: "max_over", Events: list(m.Events)})
}

// MarshalJSON implements json.Marshaler.
func (s SubsetThenRest) MarshalJSON() ([]byte, error) {
	return json.Marshal(eventJSON{Kind: "subset_then_rest", SamplingProbability: &s.SamplingProbability, Tune: s.Tune, Base: s.Base})
}

// MarshalJSON implements json.Marshaler.
func (p Parallel) MarshalJSON() ([]byte, error) {
	return json.Marshal(eventJSON{Kind: "parallel", Events: list(p.Events)})
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

// ParseEvent reads an event from its JSON form and validates it. Unknown, repeated and missing members are errors that
// wrap ErrInvalid.
func ParseEvent(data []byte) (Event, error) {
	e, err := parseEvent(data)
	if err != nil {
		return nil, fmt.Errorf("parse event: %w", err)
	}
	if err := Validate(e); err != nil {
		return nil, fmt.Errorf("parse event: %w", err)
	}
	return e, nil
}

func parseEvent(data []byte) (Event, error) {
	p, err := parseParams(data)
	if err != nil {
		return nil, err
	}
	var e Event
	switch kind := p.text("kind"); kind {
	case "gaussian":
		e = Gaussian{NoiseMultiplier: p.real("noise_multiplier")}
	case "rdp_line":
		e = RDPLine{Slope: p.real("slope"), Orders: p.orders()}
	case "poisson_sampled":
		e = PoissonSampled{SamplingProbability: p.real("sampling_probability"), Event: p.event("event")}
	case "self_composed":
		e = SelfComposed{Event: p.event("event"), Count: p.integer("count", 0)}
	case "composed":
		e = Composed{Events: p.events()}
	case "select_best":
		e = SelectBest{Event: p.event("event"), Repetitions: p.repetitions()}
	case "max_over":
		e = MaxOver{Events: p.events()}
	case "subset_then_rest":
		e = SubsetThenRest{SamplingProbability: p.real("sampling_probability"), Tune: p.event("tune"), Base: p.event("base")}
	case "parallel":
		e = Parallel{Events: p.events()}
	default:
		p.fail("kind %q of event", kind)
	}
	return e, p.done()
}

func (p *params) event(name string) Event {
	var data json.RawMessage
	if !p.take(name, &data) {
		return nil
	}
	e, err := parseEvent(data)
	if err != nil && p.err == nil {
		p.err = fmt.Errorf("%s: %w", name, err)
	}
	return e
}

func (p *params) events() []Event {
	var data []json.RawMessage
	if !p.take("events", &data) {
		return nil
	}
	events := make([]Event, len(data))
	for i, d := range data {
		e, err := parseEvent(d)
		if err != nil && p.err == nil {
			p.err = fmt.Errorf("events[%d]: %w", i, err)
		}
		events[i] = e
	}
	return events
}

func (p *params) repetitions() Repetitions {
	var data json.RawMessage
	if !p.take("repetitions", &data) {
		return nil
	}
	r, err := parseRepetitions(data)
	if err != nil && p.err == nil {
		p.err = fmt.Errorf("repetitions: %w", err)
	}
	return r
}

func parseRepetitions(data []byte) (Repetitions, error) {
	p, err := parseParams(data)
	if err != nil {
		return nil, err
	}
	var r Repetitions
	switch kind := p.text("kind"); kind {
	case "poisson":
		r = Poisson{Mean: p.real("mean")}
	case "truncated_poisson":
		r = TruncatedPoisson{Rate: p.real("rate")}
	case "truncated_negative_binomial":
		r = TruncatedNegativeBinomial{Shape: p.real("shape"), Success: p.real("success")}
	default:
		p.fail("kind %q of repetitions", kind)
	}
	return r, p.done()
}
