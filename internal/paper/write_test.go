package paper

import (
	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/internal/figure"
)

// fewBounds are settings of compare_dp_bounds that take no time.
func fewBounds() *figure.BoundsSettings {
	s := figure.PaperBounds()
	s.SubsetRates = []float64{0.01, 0.05, 0.1, 0.2, 0.5, 0.9}
	s.Modes = []accountant.Mode{accountant.Paper, accountant.Tight}
	return &s
}
