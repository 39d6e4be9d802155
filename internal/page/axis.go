package page

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// axis maps values to a length, linearly or by logarithm.
type axis struct {
	label     string // with variables between asterisks
	log       bool
	percent   bool // values are shares
	low, high float64
	ticks     []tick
}

type tick struct {
	value float64
	text  string
}

// largest is the maximum magnitude of a value on an axis. The ends of a larger one wouldn't be finite.
const largest = 1e300

// newAxis returns an axis on which all values up to the largest magnitude have a position. A logarithmic one takes only
// values above 0.
func newAxis(label string, log bool, values ...float64) axis {
	a := axis{label: label, log: log, low: math.Inf(1), high: math.Inf(-1)}
	for _, v := range values {
		if !(math.Abs(v) <= largest) || log && v <= 0 {
			continue
		}
		a.low, a.high = math.Min(a.low, v), math.Max(a.high, v)
	}
	if a.low > a.high { // nothing to show
		a.low, a.high = 1, 1
	}
	if log {
		a.logTicks()
	} else {
		a.linearTicks()
	}
	return a
}

// at returns the position of a value: 0 at the low end of the axis and 1 at the high end.
func (a axis) at(v float64) float64 {
	if a.log {
		return (math.Log(v) - math.Log(a.low)) / (math.Log(a.high) - math.Log(a.low))
	}
	return (v - a.low) / (a.high - a.low)
}

// linearTicks extends the axis to round values and sets a tick at each.
func (a *axis) linearTicks() {
	// Ticks of a narrower axis would be the same float64.
	if a.high-a.low <= 1e-9*math.Max(math.Abs(a.low), math.Abs(a.high)) || a.high-a.low < 1/largest {
		room := math.Max(math.Abs(a.low)/10, 1e-3)
		a.low, a.high = a.low-room, a.high+room
	}
	step := roundStep((a.high - a.low) / 5)
	from, to := math.Floor(a.low/step+1e-9), math.Ceil(a.high/step-1e-9)
	a.low, a.high = from*step, to*step
	for i := from; i <= to; i++ {
		a.ticks = append(a.ticks, tick{i * step, decimal(i*step, step)})
	}
}

// roundStep returns 1, 2 or 5 times a power of ten, at least v.
func roundStep(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= v*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// decimal prints a multiple of step with the decimals that step needs.
func decimal(v, step float64) string {
	power := int(math.Floor(math.Log10(step) + 1e-9))
	if power < -6 || power > 6 {
		return short(v)
	}
	if math.Abs(v) < step/2 {
		v = 0 // not -0
	}
	return minus(strconv.FormatFloat(v, 'f', max(0, -power), 64))
}

// logTicks widens the axis a little and sets ticks at powers of ten, and between them if there are few.
func (a *axis) logTicks() {
	if a.high/a.low < 1.5 {
		a.low, a.high = a.low/2, a.high*2
	}
	room := math.Pow(a.high/a.low, 0.04)
	a.low, a.high = math.Max(a.low/room, math.SmallestNonzeroFloat64), math.Min(a.high*room, math.MaxFloat64)
	from, to := int(math.Floor(math.Log10(a.low))), int(math.Ceil(math.Log10(a.high)))
	stride := max(1, int(math.Ceil(float64(to-from)/9)))
	mantissas := []int{1}
	switch decades := math.Log10(a.high) - math.Log10(a.low); {
	case decades <= 2.5:
		mantissas = []int{1, 2, 5}
	case decades <= 3.5:
		mantissas = []int{1, 3}
	}
	for power := from; power <= to; power += stride {
		for _, m := range mantissas {
			if v := parsed(m, power); v >= a.low && v <= a.high {
				a.ticks = append(a.ticks, tick{v, short(v)})
			}
		}
	}
	if len(a.ticks) < 2 {
		a.ticks = []tick{{a.low, short(a.low)}, {a.high, short(a.high)}}
	}
	alike := func(t tick) bool { return t.value >= 1e-4 && t.value <= 1e4 }
	for i, t := range a.ticks {
		if slices.IndexFunc(a.ticks, func(t tick) bool { return !alike(t) }) >= 0 {
			a.ticks[i].text = power(strconv.FormatFloat(t.value, 'e', 2, 64))
		} else {
			a.ticks[i].text = trimmed(t.value)
		}
	}
}

// parsed returns the float64 that is closest to m times a power of ten. A product with math.Pow10 is rounded twice.
func parsed(m, power int) float64 {
	v, _ := strconv.ParseFloat(fmt.Sprintf("%de%d", m, power), 64)
	return v
}

// short prints a number with up to three digits, and as a power of ten if it is far from 1.
func short(v float64) string {
	if m := math.Abs(v); v == 0 || m >= 1e-3 && m < 1e5 {
		return minus(trimmed(v))
	}
	return power(strconv.FormatFloat(v, 'e', 2, 64))
}

// trimmed prints three significant digits without an exponent.
func trimmed(v float64) string {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 2, 64), 64)
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// exact prints a number with all its digits, and as a power of ten if it is far from 1.
func exact(v float64) string {
	if m := math.Abs(v); v == 0 || m >= 1e-3 && m < 1e9 {
		return minus(strconv.FormatFloat(v, 'f', -1, 64))
	}
	return power(strconv.FormatFloat(v, 'e', -1, 64))
}

// power turns 2.50e-07 into 2.5·10⁻⁷, and 1e-05 into 10⁻⁵.
func power(scientific string) string {
	mantissa, exponent, ok := strings.Cut(scientific, "e")
	if !ok {
		return scientific // NaN and infinities
	}
	if strings.Contains(mantissa, ".") {
		mantissa = strings.TrimSuffix(strings.TrimRight(mantissa, "0"), ".")
	}
	n, _ := strconv.Atoi(exponent)
	raised := "10" + superscript.Replace(strconv.Itoa(n))
	switch mantissa {
	case "1":
		return raised
	case "-1":
		return "−" + raised
	}
	return minus(mantissa) + "·" + raised
}

var superscript = strings.NewReplacer("-", "⁻", "0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹")

// minus replaces a hyphen by a minus sign.
func minus(number string) string { return strings.Replace(number, "-", "−", 1) }
