package renyi

import "testing"

// Package repetitions' logarithms of means may be off by this much, and are still rounded up.
func TestLogMeanIsRoundedUp(t *testing.T) {
	for _, log := range []float64{0, 5.551115123125781875252e-18, 1.000000082790371007368e-10, 7.4e-5, 0.33, 1.44, 34.5, 454.4, 710.4489716106614387639} {
		least := log - 0x1p-53*(70+5*log)
		if got := logMean(least); got < log || got > log+1e-12*(1+log) {
			t.Errorf("log mean %v, rounded up to %v", log, got)
		}
	}
}

// The best of one run is that run.
func TestBinomialOfOneRun(t *testing.T) {
	e := Line(0.1, Orders{2, 9}, 9)
	for a, got := range BinomialTuned(e, e.DeltaHat(Orders{2, 9}, true), 1, 1) {
		if a >= 2 && !(got >= e[a] && got <= e[a]*(1+1e-12)) {
			t.Errorf("order %d: %v, want %v", a, got, e[a])
		}
	}
}

// A bound that overflows is a delta of 1, not NaN.
func TestOverflowIsNoDelta(t *testing.T) {
	if d := DeltaAt(1024, 1e306, 1e306); d != 1 {
		t.Errorf("delta is %v", d)
	}
}
