package tuner

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/accountant"
)

// The table of noise in bench/results/2026-11-24-division.md:
//
//	DPTRAIN_LONG=1 go test ./tuner -run TestTableOfDivisions -v
//
// It has the noise of the paper's kinds of runs on MNIST by each division, and the noise if trials were charged the
// maximum over candidates.
func TestTableOfDivisions(t *testing.T) {
	if os.Getenv("DPTRAIN_LONG") == "" {
		t.Skip("set DPTRAIN_LONG to make the table, in minutes")
	}
	const delta = 1e-5
	best := accountant.Options{}
	for _, m := range []Method{Variant1, Variant2, Baseline} {
		t.Run(string(m), func(t *testing.T) {
			for _, epsilon := range []float64{1, 4} {
				for _, d := range []struct {
					name     string
					division Division
					maximum  bool
				}{{"cost", EqualCost, false}, {"between", Halfway, false}, {"noise", EqualNoise, false}, {"cost, maximum", EqualCost, true}, {"noise, maximum", EqualNoise, true}} {
					s := paperGrid(t, m)
					of := func(noise float64) (Grid, accountant.Event) {
						g := grid(s).noisy(noise, calibration{delta, best, d.division}).(Grid)
						trial := g.trial()
						if d.maximum {
							trial = g.final()
						}
						return g, m.event(s.SubsetRate, s.Repetitions, trial, g.final())
					}
					noise, err := accountant.CalibrateNoise(epsilon, delta, best, func(noise float64) accountant.Event {
						_, event := of(noise)
						return event
					})
					if err != nil {
						t.Fatal(err)
					}
					g, _ := of(noise)
					var row []string
					for _, r := range g.Runs() {
						row = append(row, fmt.Sprintf("%.3f", r.NoiseMultiplier))
					}
					fmt.Printf("| %s | %v | %s | %s |\n", m, epsilon, d.name, strings.Join(row, " | "))
				}
			}
		})
	}
}
