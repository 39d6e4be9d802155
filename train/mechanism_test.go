package train

import (
	"math"
	"reflect"
	"testing"

	"github.com/dptrain/dptrain/accountant"
	"pgregory.net/rapid"
)

func anyPrivacy(t *rapid.T) Privacy {
	return Privacy{
		SamplingRate:    rapid.Float64Range(1e-6, 1).Draw(t, "sampling rate"),
		NoiseMultiplier: rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(1e-5, 100)).Draw(t, "noise multiplier"),
		ClippingNorm:    rapid.Float64Range(1e-6, 1e6).Draw(t, "clipping norm"),
		Clipping:        rapid.SampledFrom([]Clipping{FixedClipping, AutomaticClipping}).Draw(t, "clipping"),
		Steps:           rapid.IntRange(0, 1e6).Draw(t, "steps"),
		NominalSize:     rapid.Float64Range(1e-3, 1e9).Draw(t, "nominal size"),
	}
}

// The event and the engine's mechanism must agree: the noise is at least σ times the clipping norm that the engine
// enforces, which is below C by a margin for rounding.
func TestMechanismCouplesEventAndEngine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyPrivacy(t)
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		want := accountant.DPSGD(p.SamplingRate, p.NoiseMultiplier, p.Steps)
		if !reflect.DeepEqual(p.Event(), want) {
			t.Fatalf("event %+v, want %+v", p.Event(), want)
		}
		e := p.engine()
		if e.SamplingProbability != p.SamplingRate {
			t.Fatalf("engine samples with %v, the event with %v", e.SamplingProbability, p.SamplingRate)
		}
		if e.ExpectedBatchSize != p.SamplingRate*p.NominalSize {
			t.Fatalf("divisor %v, want %v", e.ExpectedBatchSize, p.SamplingRate*p.NominalSize)
		}
		if e.Automatic != (p.Clipping == AutomaticClipping) {
			t.Fatalf("clipping %v: automatic is %v", p.Clipping, e.Automatic)
		}
		deviation, charged := e.NoiseMultiplier*e.ClippingNorm, p.NoiseMultiplier*p.ClippingNorm
		if math.Abs(deviation-charged) > 4*0x1p-53*charged {
			t.Fatalf("noise deviation %v, charged %v", deviation, charged)
		}
	})
}

// The nominal size only scales the update.
func TestEventDoesNotDependOnNominalSize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyPrivacy(t)
		other := p
		other.NominalSize = rapid.Float64Range(1e-3, 1e9).Draw(t, "other size")
		if !reflect.DeepEqual(p.Event(), other.Event()) {
			t.Fatal("events differ")
		}
	})
}
