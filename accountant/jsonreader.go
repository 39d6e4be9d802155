package accountant

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/dptrain/dptrain/internal/strict"
)

// A jsonReader takes the members of one JSON object by name. It keeps its first error; afterwards all members are zero.
// encoding/json alone would overlook missing members.
type jsonReader struct {
	members map[string]json.RawMessage
	depth   int
	err     error
}

func readObject(text []byte, depth int) *jsonReader {
	members, err := strict.Object(text)
	r := &jsonReader{members: members, depth: depth}
	if err != nil {
		r.fail("%v", err)
	}
	return r
}

// end returns the first error. A member that was not taken is one.
func (r *jsonReader) end() error {
	for _, name := range slices.Sorted(maps.Keys(r.members)) {
		r.fail("unknown member %q", name)
	}
	return r.err
}

func (r *jsonReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: "+format, append([]any{ErrInvalid}, args...)...)
	}
}

// keep keeps the error of a part.
func (r *jsonReader) keep(part string, err error) {
	if r.err == nil && err != nil {
		r.err = fmt.Errorf("%s: %w", part, err)
	}
}

func (r *jsonReader) take(name string) json.RawMessage {
	value, ok := r.members[name]
	if !ok {
		r.fail("no member %q", name)
	}
	delete(r.members, name)
	return value
}

func (r *jsonReader) kind() string {
	var kind string
	if text := r.take("kind"); json.Unmarshal(text, &kind) != nil {
		r.fail("kind is not text")
	}
	return kind
}

// real takes a number. One that isn't 0 and too small for a float64 is an error: a sampling probability of 0 costs
// nothing.
func (r *jsonReader) real(name string) float64 { return r.number(name, r.take(name)) }

func (r *jsonReader) number(name string, value json.RawMessage) float64 {
	text := string(value)
	v, err := strconv.ParseFloat(text, 64)
	digits, _, _ := strings.Cut(strings.ToLower(text), "e")
	if err != nil || v == 0 && strings.ContainsAny(digits, "123456789") {
		r.fail("%s is not a number that a float64 holds", name)
		return 0
	}
	return v
}

// reals takes a list of numbers.
func (r *jsonReader) reals(name string) []float64 {
	text := r.take(name)
	if r.err != nil {
		return nil
	}
	var parts []json.RawMessage
	if err := json.Unmarshal(text, &parts); err != nil || parts == nil {
		r.fail("%s: not a list", name)
		return nil
	}
	numbers := make([]float64, len(parts))
	for i, part := range parts {
		numbers[i] = r.number(fmt.Sprintf("%s[%d]", name, i), part)
	}
	return numbers
}

func (r *jsonReader) count(name string) int {
	n, err := strconv.Atoi(string(r.take(name)))
	if err != nil {
		r.fail("%s is not a whole number that an int holds", name)
	}
	return n
}
