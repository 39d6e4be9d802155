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

// MarshalEvent returns e as JSON, for files that later versions read. Every event is an object whose kind names its
// type, as in
//
//	{"kind":"self_composed","count":3,"event":{"kind":"gaussian","noise_multiplier":2}}
//
// A kind has the same members and the same meaning in every version; an event of another meaning gets another kind.
// Numbers are the shortest decimals that read back as the same float64. Default orders of an [RDPLine] are written as
// the orders that they stand for. An event that is invalid, nested deeper than 64 levels or longer than 1 MiB is an
// error that wraps [ErrInvalid].
func MarshalEvent(e Event) ([]byte, error) {
	text, err := appendEvent(nil, e, 1)
	if err != nil {
		return nil, fmt.Errorf("encode event: %w", err)
	}
	// Afterwards, since a small event that shares its parts with itself may be huge when it is written out.
	if err := Validate(e); err != nil {
		return nil, fmt.Errorf("encode event: %w", err)
	}
	return text, nil
}

// UnmarshalEvent returns the event that [MarshalEvent] wrote. The order of members and the notation of numbers may
// differ. An unknown kind, an unknown, missing or repeated member, a number that a float64 can't hold, an invalid
// event, and an event beyond the limits of MarshalEvent are errors that wrap [ErrInvalid].
func UnmarshalEvent(text []byte) (Event, error) {
	if len(text) > maxJSONBytes {
		return nil, fmt.Errorf("decode event: %w: more than %d bytes", ErrInvalid, maxJSONBytes)
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

// appendEvent appends the JSON form of an event at the given depth.
func appendEvent(b []byte, e Event, depth int) ([]byte, error) {
	if depth > maxJSONDepth {
		return b, fmt.Errorf("%w: nested deeper than %d levels", ErrInvalid, maxJSONDepth)
	}
	w := jsonWriter{b: b, depth: depth}
	switch e := e.(type) {
	case Gaussian:
		w.begin("gaussian").real("noise_multiplier", e.NoiseMultiplier)
	case RDPLine:
		o := e.orders()
		w.begin("rdp_line").real("slope", e.Slope).count("low_order", o.Low).count("high_order", o.High)
	case PoissonSampled:
		w.begin("poisson_sampled").real("sampling_probability", e.SamplingProbability).event("event", e.Event)
	case SelfComposed:
		w.begin("self_composed").count("count", e.Count).event("event", e.Event)
	case Composed:
		w.begin("composed").events(e.Events)
	case SelectBest:
		w.begin("select_best").repetitions(e.Repetitions).event("event", e.Event)
	case MaxOver:
		w.begin("max_over").events(e.Events)
	case OneOf:
		w.begin("one_of").weights(e).events(e.Events)
	case SubsetThenRest:
		w.begin("subset_then_rest").real("sampling_probability", e.SamplingProbability).event("tune", e.Tune).event("base", e.Base)
	case Parallel:
		w.begin("parallel").events(e.Events)
	case GroupOf:
		w.begin("group_of").count("size", e.Size).event("event", e.Event)
	default:
		return b, fmt.Errorf("%w: %T is not an event", ErrInvalid, e)
	}
	return w.end()
}

// jsonWriter appends members of one object. After an error it appends nothing.
type jsonWriter struct {
	b     []byte
	depth int
	err   error
}

func (w *jsonWriter) begin(kind string) *jsonWriter {
	w.b = append(append(append(w.b, `{"kind":"`...), kind...), '"')
	return w
}

func (w *jsonWriter) end() ([]byte, error) {
	w.b = append(w.b, '}')
	if w.err == nil && len(w.b) > maxJSONBytes {
		w.err = fmt.Errorf("%w: more than %d bytes", ErrInvalid, maxJSONBytes)
	}
	return w.b, w.err
}

func (w *jsonWriter) name(name string) {
	w.b = append(append(append(w.b, `,"`...), name...), `":`...)
}

// real appends a number. Validate refuses those that JSON lacks.
func (w *jsonWriter) real(name string, v float64) *jsonWriter {
	w.name(name)
	w.b = strconv.AppendFloat(w.b, v, 'g', -1, 64)
	return w
}

func (w *jsonWriter) count(name string, n int) *jsonWriter {
	w.name(name)
	w.b = strconv.AppendInt(w.b, int64(n), 10)
	return w
}

func (w *jsonWriter) event(name string, e Event) *jsonWriter {
	if w.err == nil {
		w.name(name)
		w.b, w.err = appendEvent(w.b, e, w.depth+1)
	}
	return w
}

func (w *jsonWriter) events(events []Event) *jsonWriter {
	w.name("events")
	w.b = append(w.b, '[')
	for i, e := range events {
		if w.err != nil {
			return w
		}
		if i > 0 {
			w.b = append(w.b, ',')
		}
		w.b, w.err = appendEvent(w.b, e, w.depth+1)
	}
	w.b = append(w.b, ']')
	return w
}

// weights appends the weights of the events, also of those that are drawn with the same probability.
func (w *jsonWriter) weights(o OneOf) *jsonWriter {
	w.name("weights")
	w.b = append(w.b, '[')
	for i := range o.Events {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		if o.Weights != nil && i >= len(o.Weights) {
			break // Validate refuses it
		}
		w.b = strconv.AppendFloat(w.b, o.weight(i), 'g', -1, 64)
	}
	w.b = append(w.b, ']')
	return w
}

func (w *jsonWriter) repetitions(r Repetitions) *jsonWriter {
	w.name("repetitions")
	inner := jsonWriter{b: w.b, depth: w.depth}
	switch r := r.(type) {
	case Poisson:
		inner.begin("poisson").real("mean", r.Mean)
	case TruncatedPoisson:
		inner.begin("truncated_poisson").real("rate", r.Rate)
	case TruncatedNegativeBinomial:
		inner.begin("truncated_negative_binomial").real("shape", r.Shape).real("success", r.Success)
	case Binomial:
		inner.begin("binomial").count("trials", r.Trials).real("probability", r.Probability)
	case Fixed:
		inner.begin("fixed").count("trials", r.Trials)
	default:
		w.err = fmt.Errorf("%w: %T is not a distribution of repetitions", ErrInvalid, r)
		return w
	}
	w.b, w.err = inner.end()
	return w
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
		// Zero orders stand for the default, which may change.
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
