package accountant

import (
	"encoding/json"
	"fmt"
	"strconv"
)

const (
	// maxJSONDepth bounds how deep events are nested. An event inside no other one has depth 1.
	maxJSONDepth = 64
	// maxJSONBytes bounds the JSON form of an event.
	maxJSONBytes = 1 << 20
)

var errLongJSON = fmt.Errorf("%w: more than %d bytes", ErrInvalid, maxJSONBytes)

// MarshalEvent returns e as JSON, for files that later versions read. Every event is an object whose kind names its
// type, as in
//
//	{"kind":"self_composed","count":3,"event":{"kind":"gaussian","noise_multiplier":2}}
//
// A kind has the same members and the same meaning in every version; an event of another meaning gets another kind.
// Numbers are the shortest decimals that read back as the same float64. Default orders of an [RDPLine] are written as
// their present values. An event that is invalid, nested deeper than 64 levels or longer than 1 MiB is an error that
// wraps [ErrInvalid].
func MarshalEvent(e Event) ([]byte, error) {
	var w objects
	o := w.event(e, 1)
	if w.err == nil {
		w.err = Validate(e) // afterwards, since it goes through all of a huge event
	}
	if w.err != nil {
		return nil, fmt.Errorf("encode event: %w", w.err)
	}
	text, err := json.Marshal(o)
	if err == nil && len(text) > maxJSONBytes {
		err = errLongJSON
	}
	if err != nil {
		return nil, fmt.Errorf("encode event: %w", err)
	}
	return text, nil
}

// UnmarshalEvent returns the event that [MarshalEvent] wrote. The order of members and the notation of numbers may
// differ. An unknown kind, an unknown, missing or repeated member, a number that a float64 can't hold, an invalid
// event, and an event beyond the limits of MarshalEvent are errors that wrap [ErrInvalid].
func UnmarshalEvent(text []byte) (Event, error) {
	if len(text) > maxJSONBytes {
		return nil, fmt.Errorf("decode event: %w", errLongJSON)
	}
	e, err := decodeEvent(text, 1)
	if err == nil {
		err = Validate(e)
	}
	if err != nil {
		return nil, fmt.Errorf("decode event: %w", err)
	}
	return e, nil
}

// object is the JSON form of an event or of a distribution of repetitions. Its kind says which members it has.
type object struct {
	Kind                string    `json:"kind"`
	NoiseMultiplier     *number   `json:"noise_multiplier,omitempty"`
	Slope               *number   `json:"slope,omitempty"`
	LowOrder            *int      `json:"low_order,omitempty"`
	HighOrder           *int      `json:"high_order,omitempty"`
	SamplingProbability *number   `json:"sampling_probability,omitempty"`
	Count               *int      `json:"count,omitempty"`
	Size                *int      `json:"size,omitempty"`
	Mean                *number   `json:"mean,omitempty"`
	Rate                *number   `json:"rate,omitempty"`
	Shape               *number   `json:"shape,omitempty"`
	Success             *number   `json:"success,omitempty"`
	Trials              *int      `json:"trials,omitempty"`
	Probability         *number   `json:"probability,omitempty"`
	Repetitions         *object   `json:"repetitions,omitempty"`
	Weights             []number  `json:"weights,omitempty"`
	Event               *object   `json:"event,omitempty"`
	Tune                *object   `json:"tune,omitempty"`
	Base                *object   `json:"base,omitempty"`
	Events              []*object `json:"events,omitzero"` // which may be empty
}

// number is a number in the notation of %g. Other notations are read, too. All versions write the same.
type number float64

func (v number) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(v), 'g', -1, 64), nil
}

// objects makes objects of events. After an error it makes none.
type objects struct {
	made int // in all: a small event that shares its parts with itself may be huge when it is written out
	err  error
}

// event returns the object of an event at the given depth.
func (w *objects) event(e Event, depth int) *object {
	const shortest = len(`{"kind":"composed","events":[]}`)
	w.made++
	switch {
	case w.err != nil:
		return nil
	case depth > maxJSONDepth:
		w.err = fmt.Errorf("%w: nested deeper than %d levels", ErrInvalid, maxJSONDepth)
		return nil
	case w.made > maxJSONBytes/shortest:
		w.err = errLongJSON
		return nil
	}
	one := func(e Event) *object { return w.event(e, depth+1) }
	all := func(events []Event) []*object {
		objects := make([]*object, 0, len(events))
		for _, e := range events {
			objects = append(objects, one(e))
		}
		return objects
	}
	switch e := e.(type) {
	case Gaussian:
		return &object{Kind: "gaussian", NoiseMultiplier: new(number(e.NoiseMultiplier))}
	case RDPLine:
		o := e.orders()
		return &object{Kind: "rdp_line", Slope: new(number(e.Slope)), LowOrder: &o.Low, HighOrder: &o.High}
	case PoissonSampled:
		return &object{Kind: "poisson_sampled", SamplingProbability: new(number(e.SamplingProbability)), Event: one(e.Event)}
	case SelfComposed:
		return &object{Kind: "self_composed", Count: &e.Count, Event: one(e.Event)}
	case Composed:
		return &object{Kind: "composed", Events: all(e.Events)}
	case SelectBest:
		return &object{Kind: "select_best", Repetitions: w.repetitions(e.Repetitions), Event: one(e.Event)}
	case MaxOver:
		return &object{Kind: "max_over", Events: all(e.Events)}
	case OneOf:
		weights := make([]number, 0, len(e.Events)) // of those with the same probability too
		for i := range e.Events {
			if e.Weights == nil || i < len(e.Weights) { // Validate refuses others
				weights = append(weights, number(e.weight(i)))
			}
		}
		return &object{Kind: "one_of", Weights: weights, Events: all(e.Events)}
	case SubsetThenRest:
		return &object{Kind: "subset_then_rest", SamplingProbability: new(number(e.SamplingProbability)), Tune: one(e.Tune), Base: one(e.Base)}
	case Parallel:
		return &object{Kind: "parallel", Events: all(e.Events)}
	case GroupOf:
		return &object{Kind: "group_of", Size: &e.Size, Event: one(e.Event)}
	}
	w.err = fmt.Errorf("%w: %T is not an event", ErrInvalid, e)
	return nil
}

func (w *objects) repetitions(r Repetitions) *object {
	switch r := r.(type) {
	case Poisson:
		return &object{Kind: "poisson", Mean: new(number(r.Mean))}
	case TruncatedPoisson:
		return &object{Kind: "truncated_poisson", Rate: new(number(r.Rate))}
	case TruncatedNegativeBinomial:
		return &object{Kind: "truncated_negative_binomial", Shape: new(number(r.Shape)), Success: new(number(r.Success))}
	case Binomial:
		return &object{Kind: "binomial", Trials: &r.Trials, Probability: new(number(r.Probability))}
	case Fixed:
		return &object{Kind: "fixed", Trials: &r.Trials}
	}
	w.err = fmt.Errorf("%w: %T is not a distribution of repetitions", ErrInvalid, r)
	return nil
}

func decodeEvent(text []byte, depth int) (Event, error) {
	if depth > maxJSONDepth {
		return nil, fmt.Errorf("%w: nested deeper than %d levels", ErrInvalid, maxJSONDepth)
	}
	r := readObject(text, depth)
	var e Event
	switch kind := r.kind(); kind {
	case "gaussian":
		e = Gaussian{NoiseMultiplier: r.real("noise_multiplier")}
	case "rdp_line":
		// Zero orders mean the default, which may change.
		l := RDPLine{Slope: r.real("slope"), Orders: Orders{Low: r.count("low_order"), High: r.count("high_order")}}
		if l.Orders == (Orders{}) {
			r.fail("low_order 0 and high_order 0")
		}
		e = l
	case "poisson_sampled":
		e = PoissonSampled{SamplingProbability: r.real("sampling_probability"), Event: r.event("event")}
	case "self_composed":
		e = SelfComposed{Count: r.count("count"), Event: r.event("event")}
	case "composed":
		e = Composed{Events: r.events()}
	case "select_best":
		e = SelectBest{Repetitions: r.repetitions(), Event: r.event("event")}
	case "max_over":
		e = MaxOver{Events: r.events()}
	case "one_of":
		e = OneOf{Weights: r.reals("weights"), Events: r.events()}
	case "subset_then_rest":
		e = SubsetThenRest{SamplingProbability: r.real("sampling_probability"), Tune: r.event("tune"), Base: r.event("base")}
	case "parallel":
		e = Parallel{Events: r.events()}
	case "group_of":
		e = GroupOf{Size: r.count("size"), Event: r.event("event")}
	default:
		r.fail("kind %q of event", kind)
	}
	return e, r.end()
}

func decodeRepetitions(text []byte, depth int) (Repetitions, error) {
	r := readObject(text, depth)
	var k Repetitions
	switch kind := r.kind(); kind {
	case "poisson":
		k = Poisson{Mean: r.real("mean")}
	case "truncated_poisson":
		k = TruncatedPoisson{Rate: r.real("rate")}
	case "truncated_negative_binomial":
		k = TruncatedNegativeBinomial{Shape: r.real("shape"), Success: r.real("success")}
	case "binomial":
		k = Binomial{Trials: r.count("trials"), Probability: r.real("probability")}
	case "fixed":
		k = Fixed{Trials: r.count("trials")}
	default:
		r.fail("kind %q of repetitions", kind)
	}
	return k, r.end()
}

func (r *jsonReader) event(name string) Event {
	text := r.take(name)
	if r.err != nil {
		return nil
	}
	e, err := decodeEvent(text, r.depth+1)
	r.keep(name, err)
	return e
}

func (r *jsonReader) events() []Event {
	text := r.take("events")
	if r.err != nil {
		return nil
	}
	var parts []json.RawMessage
	if err := json.Unmarshal(text, &parts); err != nil || parts == nil {
		r.fail("events: not a list")
		return nil
	}
	events := make([]Event, len(parts))
	for i, part := range parts {
		if r.err != nil {
			return nil
		}
		var err error
		events[i], err = decodeEvent(part, r.depth+1)
		r.keep(fmt.Sprintf("events[%d]", i), err)
	}
	return events
}

func (r *jsonReader) repetitions() Repetitions {
	text := r.take("repetitions")
	if r.err != nil {
		return nil
	}
	k, err := decodeRepetitions(text, r.depth)
	r.keep("repetitions", err)
	return k
}
