package repetitions

// Ready returns a distribution with the same results as k, bit for bit, that has precomputed the values that LogSlope
// needs at every w: for tables of many slopes.
func Ready(k Distribution) Distribution {
	if _, ok := k.(ready); ok {
		return k
	}
	return ready{k, k.LogSlope(0)}
}

type ready struct {
	Distribution
	log float64 // of the mean
}

func (r ready) LogSlope(w float64) float64 { return r.log + r.logFall(w) }
