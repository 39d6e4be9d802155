package tuner

import (
	"math"

	"github.com/dptrain/dptrain/accountant"
)

// Missed returns the probability that no trial is drawn from a part of the space that a trial hits with probability share,
// in [0, 1]: E (1-share)^K. A given one of m candidates is missed with Missed(r, 1/m).
func Missed(r accountant.Repetitions, share float64) float64 {
	switch r := r.(type) {
	case accountant.Poisson:
		return math.Exp(-r.Mean * share)
	case accountant.TruncatedPoisson: // (e^{rate (1-share)} - 1)/(e^rate - 1)
		return math.Exp(-r.Rate*share) * math.Expm1(-r.Rate*(1-share)) / math.Expm1(-r.Rate)
	case accountant.TruncatedNegativeBinomial:
		return missedByNegativeBinomial(r, share)
	}
	return math.NaN() // there is no other
}

// The generating function is ((1-(1-gamma) z)^-eta - 1)/(gamma^-eta - 1), and log(1-(1-gamma) z)/log gamma where eta is 0.
// With l = -log gamma and x = -log(1-(1-gamma) z), which lies between 0 and l, that is (e^{eta x}-1)/(e^{eta l}-1).
func missedByNegativeBinomial(d accountant.TruncatedNegativeBinomial, share float64) float64 {
	if d.Success == 1 {
		return 1 - share
	}
	l, x := -math.Log(d.Success), -math.Log1p(-(1-d.Success)*(1-share))
	switch {
	case d.Shape == 0:
		return x / l
	case d.Shape > 0:
		return math.Exp(-d.Shape*(l-x)) * math.Expm1(-d.Shape*x) / math.Expm1(-d.Shape*l)
	}
	return math.Expm1(d.Shape*x) / math.Expm1(d.Shape*l)
}
