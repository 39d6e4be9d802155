package repetitions

import (
	"math"

	"github.com/dptrain/dptrain/internal/float"
)

// Ready returns a distribution with the same results as k, bit for bit, that has precomputed the values that LogSlope
// needs at every w: for tables of many slopes.
func Ready(k Distribution) Distribution {
	switch k := k.(type) {
	case Poisson:
		return readyPoisson{k, float.Log(k.Mean)}
	case TruncatedPoisson:
		return readyTruncatedPoisson{k, float.Log(k.Expected())}
	case NegativeBinomial:
		return readyNegativeBinomial{k, k.LogExpected()}
	case Binomial:
		return readyBinomial{k, float.Log(k.Expected())}
	}
	return k
}

type readyPoisson struct {
	Poisson
	log float64 // of the mean
}

type readyTruncatedPoisson struct {
	TruncatedPoisson
	log float64
}

type readyNegativeBinomial struct {
	NegativeBinomial
	log float64
}

type readyBinomial struct {
	Binomial
	log float64
}

func (b readyBinomial) LogSlope(w float64) float64         { return b.log + b.logFall(w) }
func (p readyPoisson) LogSlope(w float64) float64          { return p.log - p.Mean*w }
func (p readyTruncatedPoisson) LogSlope(w float64) float64 { return p.log - p.Rate*w }
func (d readyNegativeBinomial) LogSlope(w float64) float64 {
	return d.log - (1+d.Shape)*math.Log1p(w/d.odds())
}
