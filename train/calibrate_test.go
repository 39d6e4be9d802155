package train_test

import (
	"errors"
	"fmt"
	"log"
	"math"
	"reflect"
	"testing"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/train"
)

// How much noise does one run on 60,000 samples need for epsilon 4?
func ExampleCalibrate() {
	steps, err := train.Steps(40, 0.0213)
	if err != nil {
		log.Fatal(err)
	}
	p := train.Privacy{SamplingRate: 0.0213, ClippingNorm: 1, Steps: steps, NominalSize: 60000}
	p, guarantee, err := train.Calibrate(p, 4, 1e-5, accountant.Options{Mode: accountant.Best})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("noise multiplier %.3f, epsilon %.2f at delta %g\n", p.NoiseMultiplier, guarantee.Epsilon, guarantee.Delta)
	// Output: noise multiplier 1.235, epsilon 4.00 at delta 1e-05
}

// Settings have an event before they are complete. TestMechanismCouplesEventAndEngine checks the mechanism's event.
func TestEventOfSettings(t *testing.T) {
	p := train.Privacy{SamplingRate: 0.1, NoiseMultiplier: 2, Steps: 10}
	want := accountant.DPSGD(0.1, 2, 10)
	if got := p.Event(); !reflect.DeepEqual(got, want) {
		t.Errorf("incomplete settings: %+v, want %+v", got, want)
	}
	p.ClippingNorm, p.NominalSize = 1, 100
	if got := p.Event(); !reflect.DeepEqual(got, want) || p.Validate() != nil {
		t.Errorf("complete settings: %+v, want %+v", got, want)
	}
}

// gaussian returns the epsilon of steps releases with Gaussian noise on all data: Mironov's a/(2 noise^2) for each at
// order a, from 2 to 256, converted by Canonne, Kamath and Steinke's log(1-1/a) - log(delta a)/(a-1).
func gaussian(noise float64, steps int, delta float64) float64 {
	epsilon := math.Inf(1)
	for order := 2; order <= 256; order++ {
		a := float64(order)
		epsilon = min(epsilon, float64(steps)*a/(2*noise*noise)+math.Log(1-1/a)-math.Log(delta*a)/(a-1))
	}
	return epsilon
}

func TestCalibrateMeetsTheTarget(t *testing.T) {
	for _, c := range []struct {
		epsilon, delta float64
		steps          int
	}{
		{0.5, 1e-5, 1},
		{4, 1e-5, 1},
		{1, 1e-6, 100},
		{20, 1e-3, 100},
	} {
		given := train.Privacy{SamplingRate: 1, NoiseMultiplier: 99, ClippingNorm: 3, Steps: c.steps, NominalSize: 10}
		got, g, err := train.Calibrate(given, c.epsilon, c.delta, accountant.Options{Mode: accountant.Paper})
		if err != nil {
			t.Fatal(err)
		}
		noise := got.NoiseMultiplier
		enough, less := gaussian(noise*(1+1e-8), c.steps, c.delta), gaussian(noise*(1-1e-8), c.steps, c.delta)
		if enough > c.epsilon || less <= c.epsilon {
			t.Errorf("%+v: noise %v: epsilon is %v with a little more, %v with a little less", c, noise, enough, less)
		}
		if g.Epsilon > c.epsilon || g.Epsilon < c.epsilon*(1-1e-8) || g.Delta != c.delta {
			t.Errorf("%+v: guarantee %+v", c, g)
		}
		if again, err := got.Guarantee(c.delta, accountant.Options{Mode: accountant.Paper}); err != nil || again != g {
			t.Errorf("%+v: the settings guarantee %+v, %v, want %+v", c, again, err, g)
		}
		got.NoiseMultiplier = given.NoiseMultiplier
		if got != given {
			t.Errorf("%+v: it changed more than the noise: %+v, want %+v", c, got, given)
		}
	}
}

func TestCalibrateWithNothingToHide(t *testing.T) {
	p, g, err := train.Calibrate(train.Privacy{SamplingRate: 0.1, NoiseMultiplier: 2}, 1, 1e-5, accountant.Options{Mode: accountant.Paper})
	if err != nil || p.NoiseMultiplier != 0 || g.Epsilon != 0 {
		t.Errorf("a run of no steps: noise %v, guarantee %+v, %v", p.NoiseMultiplier, g, err)
	}
}

func TestCalibrateRefuses(t *testing.T) {
	good := train.Privacy{SamplingRate: 0.1, Steps: 10, NoiseMultiplier: 1}
	for _, c := range []struct {
		name           string
		p              train.Privacy
		epsilon, delta float64
		want           error
		guaranteed     bool // whether such settings have a guarantee
	}{
		{"below the floor of the orders", good, 0.001, 1e-5, accountant.ErrInfeasible, true},
		{"epsilon", good, math.NaN(), 1e-5, accountant.ErrInvalid, true},
		{"delta", good, 1, -1, accountant.ErrInvalid, false},
		{"sampling rate", train.Privacy{SamplingRate: 2, Steps: 10, NoiseMultiplier: 1}, 1, 1e-5, accountant.ErrInvalid, false},
		{"steps", train.Privacy{SamplingRate: 0.1, Steps: -1, NoiseMultiplier: 1}, 1, 1e-5, accountant.ErrInvalid, false},
	} {
		p, g, err := train.Calibrate(c.p, c.epsilon, c.delta, accountant.Options{Mode: accountant.Paper})
		if !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
		if p != (train.Privacy{}) || g != (accountant.Guarantee{}) {
			t.Errorf("%s: settings %+v and guarantee %+v beside an error", c.name, p, g)
		}
		if _, err := c.p.Guarantee(c.delta, accountant.Options{Mode: accountant.Paper}); (err == nil) != c.guaranteed || err != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: the guarantee's error is %v", c.name, err)
		}
	}
}
