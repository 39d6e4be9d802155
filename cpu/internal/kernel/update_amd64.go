package kernel

// The loops in assembly take whole registers of doubles, four or eight at a time, and at least one. Their twins take
// the remaining elements.

//go:noescape
func addUnits4(total *float64, units *int32, n int)

//go:noescape
func addUnits8(total *float64, units *int32, n int)

//go:noescape
func release4(mean, sum *float64, n int, c *NoisyMean)

//go:noescape
func release8(mean, sum *float64, n int, c *NoisyMean)

//go:noescape
func releaseUnits4(mean *float64, units *int32, n int, c *NoisyMean)

//go:noescape
func releaseUnits8(mean *float64, units *int32, n int, c *NoisyMean)

//go:noescape
func sgd4(params *float32, gradient *float64, n int, rate float64)

//go:noescape
func sgd8(params *float32, gradient *float64, n int, rate float64)

//go:noescape
func adam4(params, first, second *float32, gradient *float64, n int, c *AdamStep)

//go:noescape
func adam8(params, first, second *float32, gradient *float64, n int, c *AdamStep)

// whole returns how many of n elements fill registers of the given width.
func whole(n, width int) int { return n - n%width }

func addUnitsBy(width int, loop func(total *float64, units *int32, n int)) func([]float64, []int32) {
	return func(total []float64, units []int32) {
		n := whole(len(total), width)
		if n > 0 {
			loop(&total[0], &units[0], n)
		}
		addUnitsPlain(total[n:], units[n:])
	}
}

func releaseBy(width int, loop func(mean, sum *float64, n int, c *NoisyMean)) func(mean, sum []float64, c *NoisyMean) {
	return func(mean, sum []float64, c *NoisyMean) {
		n := whole(len(mean), width)
		if n > 0 {
			loop(&mean[0], &sum[0], n, c)
		}
		releasePlain(mean[n:], sum[n:], c)
	}
}

func releaseUnitsBy(width int, loop func(mean *float64, units *int32, n int, c *NoisyMean)) func([]float64, []int32, *NoisyMean) {
	return func(mean []float64, units []int32, c *NoisyMean) {
		n := whole(len(mean), width)
		if n > 0 {
			loop(&mean[0], &units[0], n, c)
		}
		releaseUnitsPlain(mean[n:], units[n:], c)
	}
}

func sgdBy(width int, loop func(params *float32, gradient *float64, n int, rate float64)) func([]float32, []float64, float64) {
	return func(params []float32, gradient []float64, rate float64) {
		n := whole(len(params), width)
		if n > 0 {
			loop(&params[0], &gradient[0], n, rate)
		}
		sgdPlain(params[n:], gradient[n:], rate)
	}
}

func adamBy(width int, loop func(params, first, second *float32, gradient *float64, n int, c *AdamStep)) func(params, first, second []float32, gradient []float64, c *AdamStep) {
	return func(params, first, second []float32, gradient []float64, c *AdamStep) {
		n := whole(len(params), width)
		if n > 0 {
			loop(&params[0], &first[0], &second[0], &gradient[0], n, c)
		}
		adamPlain(params[n:], first[n:], second[n:], gradient[n:], c)
	}
}
