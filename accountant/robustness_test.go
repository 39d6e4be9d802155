package accountant_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/internal/long"
)

// Whatever the event and the arguments, every public function returns a bound or an error: it never panics, never
// hangs, never returns NaN or a negative cost, and never claims by underflow that something costs nothing. The fuzz
// targets and TestExtremes draw events at the edges of floating point; the tables below keep the cases that have gone
// wrong.
//
// They can't see bounds that are too low but not below the witness, calls that end just before the watchdog, and faults
// that need more parts than the drawn events have.

// watchdog is the time after which a call counts as hung, and not just as slow.
const watchdog = 60 * time.Second

// guarded runs f and reports a panic or a hang.
func guarded(t testing.TB, call, what string, f func()) {
	t.Helper()
	done := make(chan any, 1)
	go func() {
		defer func() { done <- recover() }()
		f()
	}()
	select {
	case p := <-done:
		if p != nil {
			t.Errorf("%s: %s panics: %v", what, call, p)
		}
	case <-time.After(watchdog):
		t.Fatalf("%s: %s has no answer after %v", what, call, watchdog)
	}
}

// A probe is an event with the arguments of one call of each function.
type probe struct {
	event          accountant.Event
	options        accountant.Options
	delta, epsilon float64
}

// calls are the public functions, each with the check of its answer.
var calls = []struct {
	name string
	run  func(t testing.TB, p probe)
}{
	{"Epsilon", func(t testing.TB, p probe) {
		g, err := accountant.Epsilon(p.event, p.delta, p.options)
		if p.valid(t, "Epsilon", err, p.delta >= 0 && p.delta <= 1) {
			p.checkEpsilon(t, "Epsilon", g)
		}
	}},
	{"Delta", func(t testing.TB, p probe) {
		g, err := accountant.Delta(p.event, p.epsilon, p.options)
		if !p.valid(t, "Delta", err, p.epsilon >= 0 && !math.IsInf(p.epsilon, 1)) {
			return
		}
		if !(g.Delta >= 0 && g.Delta <= 1) || g.Delta == 0 && !free(p.event) {
			t.Errorf("%v: delta %v", p, g.Delta)
		} else if w := witness(p.event, real(p.epsilon)); w.Cmp(real(g.Delta)) > 0 {
			t.Errorf("%v: delta %v, but it is at least %s", p, g.Delta, shown(w))
		}
	}},
	{"Bounds", func(t testing.TB, p probe) {
		all, err := accountant.Bounds(p.event, p.delta, p.options.Orders)
		if !p.valid(t, "Bounds", err, p.delta >= 0 && p.delta <= 1) {
			return
		}
		for _, g := range all {
			p.checkEpsilon(t, "Bounds", g)
		}
	}},
	{"RDP", func(t testing.TB, p probe) {
		c, err := accountant.RDP(p.event, p.options)
		if !p.valid(t, "RDP", err, true) {
			return
		}
		part := gaussianPart(p.event)
		for a := 2; a < len(c); a++ {
			least := scaled(mul(part, real(float64(a)*(1-1e-9))), -1)
			if !(c[a] >= 0) || c[a] == 0 && !free(p.event) || !math.IsInf(c[a], 1) && real(c[a]).Cmp(least) < 0 {
				t.Errorf("%v: RDP %v at order %d, but it is at least %s", p, c[a], a, shown(least))
				break
			}
		}
	}},
	{"CalibrateNoise", func(t testing.TB, p probe) {
		late := deadline()
		noise, err := accountant.CalibrateNoise(p.epsilon, p.delta, p.options, func(noise float64) accountant.Event {
			return late(composed(p.event, accountant.DPSGD(0.01, noise, 10)))
		})
		p.checkCalibration(t, "CalibrateNoise", noise, err, late, composed(p.event, accountant.DPSGD(0.01, noise, 10)))
	}},
	{"CalibrateSteps", func(t testing.TB, p probe) {
		late := deadline()
		steps, err := accountant.CalibrateSteps(p.epsilon, p.delta, p.options, func(n int) accountant.Event { return late(times(n, p.event)) })
		p.checkCalibration(t, "CalibrateSteps", float64(steps), err, late, times(steps, p.event))
	}},
}

// deadline returns a function that returns its event for a second, and then nil, which must end a search with an error:
// a slow calibration is not a hang. The drawn calibrations end within a seventh of a second, or take more than ten
// seconds.
func deadline() func(accountant.Event) accountant.Event {
	end := time.Now().Add(min(time.Duration(long.Times())*time.Second, watchdog/5))
	return func(e accountant.Event) accountant.Event {
		if time.Now().After(end) {
			return nil
		}
		return e
	}
}

func (p probe) String() string {
	return fmt.Sprintf("%s\nmode %s, orders %v, delta %v, epsilon %v", text(p.event), p.options.Mode, p.options.Orders, p.delta, p.epsilon)
}

// valid reports whether there is an answer to check, and fails unless there is an error if and only if the arguments
// make no sense.
func (p probe) valid(t testing.TB, name string, err error, sensible bool) bool {
	sensible = sensible && accountant.Validate(p.event) == nil
	if (err == nil) != sensible || err != nil && !errors.Is(err, accountant.ErrInvalid) {
		t.Errorf("%v: %s returns the error %v", p, name, err)
	}
	return err == nil && sensible
}

func (p probe) checkEpsilon(t testing.TB, name string, g accountant.Guarantee) {
	if !(g.Epsilon >= 0) || p.delta == 0 && !free(p.event) && !math.IsInf(g.Epsilon, 1) {
		t.Errorf("%v: %s gives epsilon %v by %s", p, name, g.Epsilon, g.Bound)
	} else if !math.IsInf(g.Epsilon, 1) {
		if w := witness(p.event, real(g.Epsilon)); w.Cmp(real(p.delta)) > 0 {
			t.Errorf("%v: %s gives epsilon %v by %s, where delta is at least %s", p, name, g.Epsilon, g.Bound, shown(w))
		}
	}
}

func (p probe) checkCalibration(t testing.TB, name string, value float64, err error, late func(accountant.Event) accountant.Event, found accountant.Event) {
	switch {
	case errors.Is(err, accountant.ErrInfeasible), errors.Is(err, accountant.ErrUnbounded):
	case errors.Is(err, accountant.ErrInvalid) && late(found) == nil:
	case !p.valid(t, name, err, p.epsilon >= 0 && !math.IsInf(p.epsilon, 1) && p.delta >= 0 && p.delta <= 1):
	case !(value >= 0) || math.IsInf(value, 1):
		t.Errorf("%v: %s returns %v", p, name, value)
	default:
		if g, err := accountant.Epsilon(found, p.delta, p.options); err != nil || !(g.Epsilon <= p.epsilon) {
			t.Errorf("%v: %s returns %v, which costs %v, %v", p, name, value, g.Epsilon, err)
		}
	}
}

// Events that once crashed, hung or were free. The first of each group came from users or from the issue tracker; the
// others were drawn by the tests of this file.
var seen = []struct {
	name  string
	event accountant.Event
}{
	{"masses a few roundings short of 1, times e^epsilon", maxOver(accountant.Gaussian{NoiseMultiplier: 0.1116})},
	{"the same in a sampled step", maxOver(accountant.DPSGD(0.3, 0.2, 1))},
	{"the same in the best of one", accountant.Baseline(once(1), accountant.Gaussian{NoiseMultiplier: 0.1116})},
	{"the same in a shard", shards(accountant.DPSGD(0.01, 0.1116, 1))},
	{"the same, nested", maxOver(maxOver(accountant.DPSGD(0.01, 0.3, 2000)))},
	{"a success probability of 1e-12", accountant.Variant2(0.1, negativeBinomial(-0.9, 15), accountant.DPSGD(0.0213, 2, 1878))},
	{"a negative length", accountant.Baseline(accountant.TruncatedNegativeBinomial{Shape: 0, Success: 0.28}, maxOver(accountant.DPSGD(0.19, 0.3, 1)))},
	{"a transform without bound", accountant.DPSGD(1e-7, 1, 4e13)},
	{"a transform of next to nothing", accountant.DPSGD(1e-160, 50, 4e13)},
	{"a delta that underflows", accountant.Gaussian{NoiseMultiplier: 1}},
	{"a curve that underflows", accountant.Gaussian{NoiseMultiplier: 1e300}},
	{"a rate that underflows", sampled(1e-300, accountant.Gaussian{NoiseMultiplier: 2})},
	{"a slope that grows by 10^15 at the end", accountant.Baseline(accountant.TruncatedNegativeBinomial{Shape: 1, Success: 1e-15}, accountant.Gaussian{NoiseMultiplier: 1e12})},
	{"a mean of infinity times nothing", sampled(0.5, accountant.Baseline(accountant.TruncatedNegativeBinomial{Shape: -0.9999999, Success: 5e-324}, accountant.Gaussian{NoiseMultiplier: 0.05}))},
	{"a grid of 10^8 points", accountant.Baseline(accountant.TruncatedPoisson{Rate: 1}, sampled(1e-300, accountant.Gaussian{NoiseMultiplier: 0.1116}))},
}

func negativeBinomial(shape, mean float64) accountant.Repetitions {
	k, err := accountant.NegativeBinomial(shape, mean)
	if err != nil {
		panic(err)
	}
	return k
}

func TestSeenFaults(t *testing.T) {
	for k, c := range seen {
		t.Run(c.name, func(t *testing.T) {
			for i, p := range []probe{{delta: 1e-5, epsilon: 1}, {delta: 1e-14, epsilon: 100}, {delta: 0, epsilon: 590}} {
				if long.Leaves(k+i, 3) {
					continue
				}
				for _, mode := range modes {
					p.event, p.options.Mode = c.event, mode
					for n, call := range calls {
						if mode == accountant.Best && call.name != "RDP" && long.Leaves(k/2+n, 2) {
							continue
						}
						// Bounds covers Epsilon in all modes at once; calibrations take many calls.
						if call.name == "Delta" || call.name == "RDP" || call.name == "Bounds" && mode == accountant.Best {
							guarded(t, call.name, p.String(), func() { call.run(t, p) })
						}
					}
				}
			}
		})
	}
}

// TestFreeEvents: an event that provably costs nothing, with no part that could hide it, costs nothing in any mode.
func TestFreeEvents(t *testing.T) {
	noiseless := accountant.Gaussian{}
	for _, e := range []accountant.Event{
		composed(), times(0, noiseless), sampled(0, noiseless), accountant.DPSGD(0.01, 1, 0), maxOver(composed(), times(0, noiseless)),
		shards(times(1<<53, sampled(0, noiseless))),
	} {
		for _, mode := range modes {
			g, err := accountant.Delta(e, 0, accountant.Options{Mode: mode})
			if epsilon := mustEpsilon(t, e, 0, mode); err != nil || g.Delta != 0 || epsilon != 0 {
				t.Errorf("%s, mode %s: epsilon %v, delta %v, %v", text(e), mode, epsilon, g.Delta, err)
			}
		}
	}
}

// The values that drawn events are made of, and senseless numbers.
var (
	noises    = []float64{1, 0.3, 0, 5e-324, 1e-300, 1e-160, 1e-9, 0.01, 0.05, 0.1116, 2, 50, 1e3, 1e9, 1e160, 1e300, math.MaxFloat64}
	rates     = []float64{0.01, 1, 0, 5e-324, 1e-300, 1e-160, 1e-17, 1e-7, 1e-4, 0.3, 0.5, 0.99, 1 - 0x1p-53}
	slopes    = []float64{0.01, 1, 0, 5e-324, 1e-300, 1e-17, 1e-7, 0.1, 30, 1e9, 1e300, math.MaxFloat64}
	counts    = []float64{1, 10, 0, 2, 3, 1000, 1e6, 1 << 31, 4e13, 1 << 53}
	means     = []float64{15, 1, 5e-324, 1e-300, 1e-17, 1e-3, 0.5, 1 + 0x1p-52, 2, 1e3, 1e6, 1e15, 1e160, 1e300}
	shapes    = []float64{1, 0, -1 + 0x1p-53, -1 + 1e-9, -0.9, -0.5, -5e-324, 1e-300, 1e-9, 3, 1e3, 1e15, 1e300}
	successes = []float64{0.5, 1, 5e-324, 1e-300, 1e-100, 1e-12, 1e-6, 0.01, 1 - 0x1p-53}
	deltas    = []float64{1e-5, 1e-14, 0, 5e-324, 1e-300, 1e-30, 1e-9, 1e-2, 0.5, 1 - 0x1p-53, 1}
	epsilons  = []float64{1, 8, 0, 5e-324, 1e-300, 1e-17, 1e-3, 0.1, 60, 599, 601, 1e4, 1e9, 1e300, math.MaxFloat64}
	senseless = []float64{-1, math.NaN(), math.Inf(1), 1 + 0x1p-52}
	orders    = []accountant.Orders{{}, {Low: 2, High: 2}, {Low: 2, High: 32}, {Low: 2, High: 1024}, {Low: 1024, High: 1024}}
)

// A code reads choices from bytes, and zeros after their end.
type code struct{ bytes []byte }

func (c *code) next() int {
	if len(c.bytes) == 0 {
		return 0
	}
	b := c.bytes[0]
	c.bytes = c.bytes[1:]
	return int(b)
}

// one is an element of the list; 250 to 253 are a senseless number and 255 is the number in the eight bytes that
// follow.
func (c *code) one(list []float64) float64 {
	switch i := c.next(); {
	case i == 255 && len(c.bytes) >= 8:
		bits := binary.LittleEndian.Uint64(c.bytes)
		c.bytes = c.bytes[8:]
		return math.Float64frombits(bits)
	case i >= 250:
		return senseless[i%len(senseless)]
	default:
		return list[i%len(list)]
	}
}

// count is a whole number up to 2^53, or -1.
func (c *code) count() int {
	if x := c.one(counts); x >= 0 {
		return int(math.Min(x, 1<<53))
	}
	return -1
}

// event decodes an event of at most the given depth. No bytes decode to a Gaussian.
func (c *code) event(depth int) accountant.Event {
	kind := c.next() % 11
	if depth == 0 {
		kind %= 3
	}
	below := func() accountant.Event { return c.event(depth - 1) }
	switch kind {
	case 1:
		return sampled(c.one(rates), accountant.Gaussian{NoiseMultiplier: c.one(noises)})
	case 2:
		return accountant.DPSGD(c.one(rates), c.one(noises), c.count())
	case 3:
		return sampled(c.one(rates), below())
	case 10:
		return accountant.RDPLine{Slope: c.one(slopes), Orders: orders[c.next()%len(orders)]}
	case 4:
		return times(c.count(), below())
	case 5:
		return composed([]accountant.Event{below(), below()}[:c.next()%3]...)
	case 6:
		return accountant.Baseline(c.repetitions(), below())
	case 7:
		return maxOver([]accountant.Event{below(), below()}[:c.next()%3]...)
	case 8:
		return accountant.SubsetThenRest{SamplingProbability: c.one(rates), Tune: below(), Base: below()}
	case 9:
		return shards([]accountant.Event{below(), below()}[:c.next()%3]...)
	}
	return accountant.Gaussian{NoiseMultiplier: c.one(noises)}
}

func (c *code) repetitions() accountant.Repetitions {
	switch c.next() % 4 {
	case 1:
		return accountant.TruncatedPoisson{Rate: c.one(means)}
	case 2:
		return accountant.TruncatedNegativeBinomial{Shape: c.one(shapes), Success: c.one(successes)}
	case 3:
		if k, err := accountant.NegativeBinomial(c.one(shapes), c.one(means)); err == nil {
			return k
		}
		return nil
	}
	return accountant.Poisson{Mean: c.one(means)}
}

// tryCode decodes a probe and makes one call.
func tryCode(t testing.TB, data []byte) {
	c := &code{data}
	call := calls[c.next()%len(calls)]
	p := probe{options: accountant.Options{Mode: modes[c.next()%len(modes)], Orders: orders[c.next()%len(orders)]}, delta: c.one(deltas), epsilon: c.one(epsilons)}
	p.event = c.event(3)
	guarded(t, call.name, fmt.Sprintf("%x\n%v", data, p), func() { call.run(t, p) })
}

func FuzzEvent(f *testing.F) {
	for _, seed := range []string{"", "\x00\x02\x00\x06\x00\x07\x01\x00\x07", "\x01\x02\x00\x00\x08\x00\x09", "\x04\x01\x00\x06\x06\x02\x07\x0a\x05"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) { tryCode(t, data) })
}

// TestExtremes makes random calls from codes, always the same ones.
func TestExtremes(t *testing.T) {
	source := rand.New(rand.NewPCG(7, 7))
	for range 30 * long.Times() {
		data := make([]byte, 6+source.IntN(40))
		for i := range data {
			data[i] = byte(source.IntN(255))
		}
		tryCode(t, data)
	}
}
