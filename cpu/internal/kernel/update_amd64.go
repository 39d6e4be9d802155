package kernel

// The loops in assembly take whole registers of doubles, at least one. Their twins take the remaining elements.

//go:noescape
func addUnits4(total *float64, units *int32, n int, grid float64)

//go:noescape
func addUnits8(total *float64, units *int32, n int, grid float64)

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

func addUnitsAVX2(total []float64, units []int32, grid float64) {
	n := len(total) &^ 3
	if n > 0 {
		addUnits4(&total[0], &units[0], n, grid)
	}
	addUnitsPlain(total[n:], units[n:], grid)
}

func addUnitsAVX512(total []float64, units []int32, grid float64) {
	n := len(total) &^ 7
	if n > 0 {
		addUnits8(&total[0], &units[0], n, grid)
	}
	addUnitsPlain(total[n:], units[n:], grid)
}

func releaseAVX2(mean, sum []float64, c *NoisyMean) {
	n := len(mean) &^ 3
	if n > 0 {
		release4(&mean[0], &sum[0], n, c)
	}
	releasePlain(mean[n:], sum[n:], c)
}

func releaseAVX512(mean, sum []float64, c *NoisyMean) {
	n := len(mean) &^ 7
	if n > 0 {
		release8(&mean[0], &sum[0], n, c)
	}
	releasePlain(mean[n:], sum[n:], c)
}

func releaseUnitsAVX2(mean []float64, units []int32, c *NoisyMean) {
	n := len(mean) &^ 3
	if n > 0 {
		releaseUnits4(&mean[0], &units[0], n, c)
	}
	releaseUnitsPlain(mean[n:], units[n:], c)
}

func releaseUnitsAVX512(mean []float64, units []int32, c *NoisyMean) {
	n := len(mean) &^ 7
	if n > 0 {
		releaseUnits8(&mean[0], &units[0], n, c)
	}
	releaseUnitsPlain(mean[n:], units[n:], c)
}

func sgdAVX2(params []float32, gradient []float64, rate float64) {
	n := len(params) &^ 3
	if n > 0 {
		sgd4(&params[0], &gradient[0], n, rate)
	}
	sgdPlain(params[n:], gradient[n:], rate)
}

func sgdAVX512(params []float32, gradient []float64, rate float64) {
	n := len(params) &^ 7
	if n > 0 {
		sgd8(&params[0], &gradient[0], n, rate)
	}
	sgdPlain(params[n:], gradient[n:], rate)
}

func adamAVX2(params, first, second []float32, gradient []float64, c *AdamStep) {
	n := len(params) &^ 3
	if n > 0 {
		adam4(&params[0], &first[0], &second[0], &gradient[0], n, c)
	}
	adamPlain(params[n:], first[n:], second[n:], gradient[n:], c)
}

func adamAVX512(params, first, second []float32, gradient []float64, c *AdamStep) {
	n := len(params) &^ 7
	if n > 0 {
		adam8(&params[0], &first[0], &second[0], &gradient[0], n, c)
	}
	adamPlain(params[n:], first[n:], second[n:], gradient[n:], c)
}
