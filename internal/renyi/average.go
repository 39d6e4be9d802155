package renyi

import (
	"math"

	"github.com/dptrain/dptrain/internal/float"
)

// Average returns the curve of one of several mechanisms, drawn at random with the given weights, whose outcomes
// without the unit have one law: log(sum of w e^{(a-1) c(a)})/(a-1), since e^{(a-1) D_a} is jointly convex.
func Average(curves []Curve, weights []float64) Curve {
	c := NewCurve(curves[0].high())
	for a := 2; a <= c.high(); a++ {
		logSum, size := math.Inf(-1), 0.0
		for i, x := range curves {
			// log(1 + sum w (e^x - 1)), so that little cancels
			y := float64(a-1) * x[a]
			size = math.Max(size, y)
			if y > 0 {
				logSum = logAdd(logSum, float.Log(weights[i])+logExpm1(y))
			}
		}
		if math.IsInf(size, 1) {
			c[a] = math.Inf(1)
			continue
		}
		c[a] = mixtureDivergence(logSum+(size+40)*(16+float64(len(curves)))*0x1p-53, a)
	}
	return c
}
