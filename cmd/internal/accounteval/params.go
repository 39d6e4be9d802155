package accounteval

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/internal/strict"
)

// params reads the parameters of a function one by one and keeps the first fault.
type params struct {
	fields  map[string]json.RawMessage // not taken yet
	err     error
	options accountant.Options
}

func parseParams(data []byte) (*params, error) {
	fields, err := strict.Object(data)
	if err != nil {
		err = fmt.Errorf("%w: %w", accountant.ErrInvalid, err)
	}
	return &params{fields: fields}, err
}

// done returns the first fault. An unused parameter is a fault.
func (p *params) done() error {
	if p.err == nil && len(p.fields) > 0 {
		p.err = fmt.Errorf("%w: unknown parameter %q", accountant.ErrInvalid, slices.Sorted(maps.Keys(p.fields))[0])
	}
	return p.err
}

func (p *params) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("%w: "+format, append([]any{accountant.ErrInvalid}, args...)...)
	}
}

func (p *params) take(name string, value any) bool {
	data, ok := p.fields[name]
	if !ok {
		p.fail("parameter %q is missing", name)
		return false
	}
	delete(p.fields, name)
	if bytes.Equal(data, []byte("null")) {
		p.fail("parameter %q is null", name)
		return false
	}
	if err := json.Unmarshal(data, value); err != nil {
		p.fail("parameter %q: %v", name, err)
		return false
	}
	return true
}

func (p *params) number(name, want string, ok func(float64) bool) float64 {
	var x float64
	if p.take(name, &x) && !ok(x) {
		p.fail("parameter %q is %v, not %s", name, x, want)
	}
	return x
}

func (p *params) text(name string) string {
	var s string
	p.take(name, &s)
	return s
}

func (p *params) probability(name string) float64 {
	return p.number(name, "in [0, 1]", func(x float64) bool { return x >= 0 && x <= 1 })
}

func (p *params) nonNegative(name string) float64 {
	return p.number(name, "at least 0", func(x float64) bool { return x >= 0 })
}

func (p *params) positive(name string) float64 {
	return p.number(name, "above 0", func(x float64) bool { return x > 0 })
}

// integer takes any JSON number of integral value, from low to 2^53.
func (p *params) integer(name string, low float64) int {
	x := p.number(name, fmt.Sprintf("an integer from %v to 2^53", low), func(x float64) bool {
		return x == math.Trunc(x) && x >= low && x <= accountant.MaxSteps
	})
	return int(math.Max(low, math.Min(x, accountant.MaxSteps)))
}

func (p *params) order() int {
	a := p.integer("alpha", 2)
	if a > accountant.MaxOrder {
		p.fail("order %d is above %d", a, accountant.MaxOrder)
		return accountant.MaxOrder
	}
	return a
}

// orders takes [low, high]. takeOptions checks them.
func (p *params) orders() (o accountant.Orders) {
	var bounds []int
	if p.take("orders", &bounds) {
		if len(bounds) != 2 {
			p.fail("orders: want [low, high]")
		} else if o = (accountant.Orders{Low: bounds[0], High: bounds[1]}); o == (accountant.Orders{}) {
			p.fail("orders 0 to 0")
		}
	}
	return o
}

// takeOptions takes the two parameters that every function may have. Reference vectors without a mode are of mode
// paper.
func (p *params) takeOptions() accountant.Options {
	o := accountant.Options{Mode: accountant.Paper}
	if _, ok := p.fields["mode"]; ok && p.take("mode", &o.Mode) && o.Mode == "" {
		p.fail("mode is empty")
	}
	if _, ok := p.fields["orders"]; ok {
		o.Orders = p.orders()
	}
	_, err := accountant.RDP(accountant.Composed{}, o) // which costs nothing
	if err != nil && p.err == nil {
		p.err = err
	}
	if o.Orders == (accountant.Orders{}) {
		o.Orders = accountant.Orders{Low: 2, High: 256}
	}
	return o
}

// base takes the description of one trial.
func (p *params) base() accountant.Event {
	var data json.RawMessage
	if !p.take("base", &data) {
		return accountant.Composed{}
	}
	e, err := parseBase(data)
	if err != nil && p.err == nil {
		p.err = fmt.Errorf("base: %w", err)
	}
	return e
}

// parseBase reads {kind: dpsgd, gamma, sigma, steps}, {kind: gaussian, sigma, steps}, {kind: line, c} or
// {kind: grid, members}.
func parseBase(data []byte) (accountant.Event, error) {
	p, err := parseParams(data)
	if err != nil {
		return nil, err
	}
	var e accountant.Event
	switch kind := p.text("kind"); kind {
	case "dpsgd":
		e = accountant.SelfComposed{Event: p.step(), Count: p.integer("steps", 0)}
	case "gaussian":
		e = accountant.SelfComposed{Event: accountant.Gaussian{NoiseMultiplier: p.nonNegative("sigma")}, Count: p.integer("steps", 0)}
	case "line":
		e = accountant.RDPLine{Slope: p.nonNegative("c"), Orders: accountant.Orders{Low: 2, High: accountant.MaxOrder}}
	case "grid":
		var members []json.RawMessage
		p.take("members", &members)
		var events []accountant.Event
		for i, m := range members {
			member, err := parseBase(m)
			if err != nil {
				return nil, fmt.Errorf("member %d: %w", i, err)
			}
			events = append(events, member)
		}
		if len(events) == 0 {
			p.fail("grid without members")
		}
		e = accountant.MaxOver{Events: events}
	default:
		p.fail("kind %q: want dpsgd, gaussian, line or grid", kind)
	}
	return e, p.done()
}
