package accountant

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/dptrain/dptrain/internal/strict"
)

const (
	// maxJSONDepth bounds how deep events are nested. An event inside no other one has depth 1.
	maxJSONDepth = 64
	// maxJSONBytes bounds the JSON form of an event.
	maxJSONBytes = 1 << 20
)

var (
	errLongJSON = fmt.Errorf("%w: more than %d bytes", ErrInvalid, maxJSONBytes)
	errDeepJSON = fmt.Errorf("%w: nested deeper than %d levels", ErrInvalid, maxJSONDepth)
)

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
	text, err := appendForm(nil, e, 1)
	if err == nil {
		err = Validate(e) // afterwards, since it goes through all of a huge event
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
	var e Event
	err := readValue(text, reflect.ValueOf(&e).Elem(), 0)
	if err == nil {
		err = Validate(e)
	}
	if err != nil {
		return nil, fmt.Errorf("decode event: %w", err)
	}
	return e, nil
}

// A form is the JSON form of an event or of a distribution of repetitions: its kind, and its members in the order in
// which they are written. A member is all of one field of the type, whose name is the member's without underscores, and
// each field has one.
type form struct {
	kind    string
	of      reflect.Type
	members []string
}

var forms = []form{
	{"gaussian", reflect.TypeFor[Gaussian](), []string{"noise_multiplier"}},
	{"rdp_line", reflect.TypeFor[line](), []string{"slope", "low_order", "high_order"}},
	{"poisson_sampled", reflect.TypeFor[PoissonSampled](), []string{"sampling_probability", "event"}},
	{"self_composed", reflect.TypeFor[SelfComposed](), []string{"count", "event"}},
	{"composed", reflect.TypeFor[Composed](), []string{"events"}},
	{"select_best", reflect.TypeFor[SelectBest](), []string{"repetitions", "event"}},
	{"max_over", reflect.TypeFor[MaxOver](), []string{"events"}},
	{"one_of", reflect.TypeFor[OneOf](), []string{"weights", "events"}},
	{"subset_then_rest", reflect.TypeFor[SubsetThenRest](), []string{"sampling_probability", "tune", "base"}},
	{"parallel", reflect.TypeFor[Parallel](), []string{"events"}},
	{"group_of", reflect.TypeFor[GroupOf](), []string{"size", "event"}},

	{"poisson", reflect.TypeFor[Poisson](), []string{"mean"}},
	{"truncated_poisson", reflect.TypeFor[TruncatedPoisson](), []string{"rate"}},
	{"truncated_negative_binomial", reflect.TypeFor[TruncatedNegativeBinomial](), []string{"shape", "success"}},
	{"binomial", reflect.TypeFor[Binomial](), []string{"trials", "probability"}},
	{"fixed", reflect.TypeFor[Fixed](), []string{"trials"}},
}

// A line is an [RDPLine] with members for its orders.
type line struct {
	RDPLine
	LowOrder, HighOrder int
}

func field(v reflect.Value, member string) reflect.Value {
	name := strings.ReplaceAll(member, "_", "")
	return v.FieldByNameFunc(func(field string) bool { return strings.EqualFold(field, name) })
}

// appendForm appends the form of an event or of a distribution of repetitions.
func appendForm(text []byte, value any, depth int) ([]byte, error) {
	switch v := value.(type) {
	case RDPLine:
		value = line{v, v.orders().Low, v.orders().High}
	case OneOf:
		if v.Weights == nil { // of events with the same probability too
			v.Weights = slices.Repeat([]float64{1}, len(v.Events))
		}
		value = v
	}
	k := slices.IndexFunc(forms, func(f form) bool { return f.of == reflect.TypeOf(value) })
	switch {
	case k < 0:
		return nil, fmt.Errorf("%w: %T has no form", ErrInvalid, value)
	case depth > maxJSONDepth:
		return nil, errDeepJSON
	}
	text = fmt.Appendf(text, `{"kind":%q`, forms[k].kind)
	for _, member := range forms[k].members {
		text = fmt.Appendf(text, `,%q:`, member)
		var err error
		if text, err = appendValue(text, field(reflect.ValueOf(value), member), depth); err != nil {
			return nil, err
		}
	}
	// A small event that shares its parts with itself may be huge when it is written out.
	if text = append(text, '}'); len(text) > maxJSONBytes {
		return nil, errLongJSON
	}
	return text, nil
}

func appendValue(text []byte, v reflect.Value, depth int) ([]byte, error) {
	switch v.Kind() {
	case reflect.Float64:
		return strconv.AppendFloat(text, v.Float(), 'g', -1, 64), nil // in all versions
	case reflect.Int:
		return strconv.AppendInt(text, v.Int(), 10), nil
	case reflect.Slice:
		text = append(text, '[')
		for i := range v.Len() {
			if i > 0 {
				text = append(text, ',')
			}
			var err error
			if text, err = appendValue(text, v.Index(i), depth); err != nil {
				return nil, err
			}
		}
		return append(text, ']'), nil
	}
	if v.Type() == reflect.TypeFor[Event]() {
		depth++
	}
	return appendForm(text, v.Interface(), depth)
}

// readValue reads what appendValue wrote. encoding/json alone would overlook missing members.
func readValue(text []byte, v reflect.Value, depth int) error {
	switch v.Kind() {
	case reflect.Float64:
		// A number that isn't 0 and too small for a float64 is an error: a sampling probability of 0 costs nothing.
		x, err := strconv.ParseFloat(string(text), 64)
		digits, _, _ := strings.Cut(strings.ToLower(string(text)), "e")
		if err != nil || x == 0 && strings.ContainsAny(digits, "123456789") {
			return fmt.Errorf("%w: not a number that a float64 holds", ErrInvalid)
		}
		v.SetFloat(x)
		return nil
	case reflect.Int:
		n, err := strconv.Atoi(string(text))
		if err != nil {
			return fmt.Errorf("%w: not a whole number that an int holds", ErrInvalid)
		}
		v.SetInt(int64(n))
		return nil
	case reflect.Slice:
		var parts []json.RawMessage
		if err := json.Unmarshal(text, &parts); err != nil || parts == nil {
			return fmt.Errorf("%w: not a list", ErrInvalid)
		}
		v.Set(reflect.MakeSlice(v.Type(), len(parts), len(parts)))
		for i, part := range parts {
			if err := readValue(part, v.Index(i), depth); err != nil {
				return fmt.Errorf("[%d]: %w", i, err)
			}
		}
		return nil
	}
	if v.Type() == reflect.TypeFor[Event]() {
		depth++
	}
	return readForm(text, v, depth)
}

// readForm reads what appendForm wrote into v, an [Event] or a [Repetitions].
func readForm(text []byte, v reflect.Value, depth int) error {
	if depth > maxJSONDepth {
		return errDeepJSON
	}
	members, err := strict.Object(text)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	var kind string
	if json.Unmarshal(members["kind"], &kind) != nil {
		return fmt.Errorf("%w: kind is missing or no text", ErrInvalid)
	}
	delete(members, "kind")
	k := slices.IndexFunc(forms, func(f form) bool { return f.kind == kind && f.of.Implements(v.Type()) })
	if k < 0 {
		return fmt.Errorf("%w: kind %q of %s", ErrInvalid, kind, strings.ToLower(v.Type().Name()))
	}
	out := reflect.New(forms[k].of).Elem()
	for _, member := range forms[k].members {
		text, ok := members[member]
		if !ok {
			return fmt.Errorf("%w: no member %q", ErrInvalid, member)
		}
		delete(members, member)
		if err := readValue(text, field(out, member), depth); err != nil {
			return fmt.Errorf("%s: %w", member, err)
		}
	}
	if len(members) > 0 {
		return fmt.Errorf("%w: unknown member %q", ErrInvalid, slices.Sorted(maps.Keys(members))[0])
	}
	if l, ok := out.Interface().(line); ok {
		// Zero orders mean the default, which may change.
		if l.Orders = (Orders{l.LowOrder, l.HighOrder}); l.Orders == (Orders{}) {
			return fmt.Errorf("%w: low_order 0 and high_order 0", ErrInvalid)
		}
		out = reflect.ValueOf(l.RDPLine)
	}
	v.Set(out)
	return nil
}
