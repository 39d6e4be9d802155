package figure

import (
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/plot"
)

// ticks returns between four and nine round values, the first at most low and the last at least high. Gonum's own ticks
// are only two or three in a panel, have varying numbers of decimals, and end within the data.
func ticks(low, high float64) plot.ConstantTicks {
	least := (high - low) / 6
	power := int(math.Floor(math.Log10(least)))
	mantissa := 10.
	for _, m := range []float64{5, 4, 2, 1} {
		if m*math.Pow10(power) >= least*(1-1e-9) {
			mantissa = m
		}
	}
	step := mantissa * math.Pow10(power)
	var marks plot.ConstantTicks
	for i := math.Floor(low/step + 1e-9); i <= math.Ceil(high/step-1e-9); i++ {
		marks = append(marks, plot.Tick{Value: i * step, Label: tickText(i*step, step)})
	}
	return marks
}

// logTicks returns ticks between two decimal logarithms, at 1, 2 and 5 times powers of ten or, on a long axis, at
// powers of ten. The first is at most low and the last at least high.
func logTicks(low, high float64) plot.ConstantTicks {
	mantissas, stride := []float64{1, 2, 5}, 1
	switch decades := high - low; {
	case decades > 9:
		mantissas, stride = mantissas[:1], int(math.Ceil(decades/6))
	case decades > 1.7:
		mantissas = mantissas[:1]
	}
	var all []float64
	for power := (int(math.Floor(low/float64(stride))) - 1) * stride; float64(power) <= high+float64(stride); power += stride {
		for _, m := range mantissas {
			v, _ := strconv.ParseFloat(fmt.Sprintf("%ve%d", m, power), 64) // a product would be rounded twice
			all = append(all, v)
		}
	}
	var marks plot.ConstantTicks
	for i, v := range all {
		below := i+1 < len(all) && math.Log10(all[i+1]) <= low+1e-9
		above := i > 0 && math.Log10(all[i-1]) >= high-1e-9
		if !below && !above {
			text := strconv.FormatFloat(v, 'f', -1, 64)
			if v < 1e-4 || v > 1e4 {
				text = number(v)
			}
			marks = append(marks, plot.Tick{Value: math.Log10(v), Label: text})
		}
	}
	return marks
}

// tickText prints a multiple of step with the decimals that step needs.
func tickText(v, step float64) string {
	power := int(math.Floor(math.Log10(step) + 1e-9))
	if power < -5 || power > 5 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return strconv.FormatFloat(v, 'f', max(0, -power), 64)
}
