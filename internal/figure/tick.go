package figure

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
)

// ticks returns between four and nine round values, the first at most low and the last at least high. Gonum's own
// ticks are two or three in a panel, with no more decimals than they need or two more, and end within the data.
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

// tickText prints a multiple of step with the decimals that step needs.
func tickText(v, step float64) string {
	power := int(math.Floor(math.Log10(step) + 1e-9))
	if power < -5 || power > 5 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return strconv.FormatFloat(v, 'f', max(0, -power), 64)
}
