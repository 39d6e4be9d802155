package experiment

import (
	"fmt"
	"math"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/datasets/table"
	"github.com/dptrain/dptrain/tuner"
)

// Below these numbers of samples, results are mostly chance.
const (
	fewInSubset = 100 // q times n: the samples that a trial has in expectation
	fewPublic   = 200 // test samples
)

// smallRemedy is what did best on held-out rows of tables of a few hundred rows: see docs/tuning.md.
const smallRemedy = "a larger --q, or fixed clipping and --model linear without settings of a search, whose hyperparameters a rule gives"

// subsetWarning warns of trials on so few samples that the search is hardly better than a draw. n is public.
func (p *Plan) subsetWarning() string {
	w, ok := p.work.(tuning)
	if !ok || w.Method == tuner.Baseline {
		return ""
	}
	subset := w.SubsetRate * (1 - w.HoldOut.Rate) * float64(w.Samples)
	if subset >= fewInSubset {
		return ""
	}
	return fmt.Sprintf("a trial has %.0f samples in expectation, q times n: with fewer than %d the search hardly tells good hyperparameters from bad ones; try %s",
		subset, fewInSubset, smallRemedy)
}

// heldOutWarning warns of so few held-out samples that noise and chance choose the best trial. It uses the plan's
// expected number: the drawn number is private.
func (p *Plan) heldOutWarning() string {
	w, ok := p.work.(tuning)
	if !ok || w.HoldOut.Rate == 0 {
		return ""
	}
	size := w.HoldOut.Rate * float64(w.Samples)
	off := 100 * math.Hypot(0.5/math.Sqrt(size), w.HoldOut.NoiseMultiplier/2/size)
	if off < 100*0.5/math.Sqrt(fewPublic) {
		return ""
	}
	chance := fmt.Sprintf("an accuracy is off by about %.0f percentage points", min(off, 100))
	if s := p.Samples.Schema; p.ranking() || s != nil && s.Label.Task == table.Regression {
		chance = "a score of so few is mostly chance"
	}
	return fmt.Sprintf("about %.0f held-out rows select the best trial and score the model, with noise: %s; hold out more of the rows, or draw fewer trials by --mu, which lowers the noise",
		size, chance)
}

// publicWarning warns of so few public rows that the score, and the choice of the best trial by it, are mostly chance.
func (p *Plan) publicWarning() string {
	n := p.Samples.Test
	if n == 0 || n >= fewPublic || p.holdsOut() {
		return ""
	}
	use := "score the model"
	if p.tune {
		use = "select the best trial and score the model"
	}
	chance := "a score of so few is mostly chance"
	if s := p.Samples.Schema; !p.ranking() && (s == nil || s.Label.Task == table.Classification) {
		// One standard error of a share of a half, the largest there is.
		chance = fmt.Sprintf("an accuracy of so few is off by about %.0f percentage points", 50/math.Sqrt(float64(n)))
	}
	return fmt.Sprintf("%s public test rows %s: %s; give at least %d", release.Grouped(n), use, chance, fewPublic)
}
