package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestSteps(t *testing.T) {
	tests := []struct {
		epochs, rate float64
		want         int
	}{
		// The paper's three settings; 40/0.0256 is exactly 1562.5 and rounds up.
		{40, 0.0213, 1878},
		{40, 0.0256, 1563},
		{110, 0.0256, 4297},
		{0, 0.5, 0},
		{1, 1, 1},
		{0.5, 1, 1}, // half up, not to even
		{2.5, 1, 3},
		{0.49, 1, 0},
		{1, 0.1, 10},
		{0.3, 0.1, 3},
	}
	for _, tt := range tests {
		got, err := Steps(tt.epochs, tt.rate)
		if err != nil || got != tt.want {
			t.Errorf("Steps(%v, %v) = %d, %v; want %d", tt.epochs, tt.rate, got, err, tt.want)
		}
	}
}

func TestStepsRefuses(t *testing.T) {
	for _, tt := range [][2]float64{{-1, 0.5}, {math.NaN(), 0.5}, {math.Inf(1), 0.5}, {1, 0}, {1, 1.5}, {1, math.NaN()}, {1e9, 1e-9}, {math.MaxInt32 + 1, 1}, {1e300, 1e-300}} {
		if n, err := Steps(tt[0], tt[1]); err == nil {
			t.Errorf("Steps(%v, %v) = %d, want an error", tt[0], tt[1], n)
		}
	}
}

func TestPrivacyValidate(t *testing.T) {
	good := settings().Privacy
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		change func(*Privacy)
		want   string
	}{
		{func(p *Privacy) { p.SamplingRate = 0 }, "sampling rate is 0: want a number in (0, 1]"},
		{func(p *Privacy) { p.SamplingRate = 1.5 }, "sampling rate is 1.5: want a number in (0, 1]"},
		{func(p *Privacy) { p.SamplingRate = math.NaN() }, "sampling rate is NaN: want a number in (0, 1]"},
		{func(p *Privacy) { p.NoiseMultiplier = -1 }, "noise multiplier is -1: want 0, or a number from 1e-5 to 1e9"},
		{func(p *Privacy) { p.NoiseMultiplier = math.Inf(1) }, "noise multiplier is +Inf: want 0, or a number from 1e-5 to 1e9"},
		{func(p *Privacy) { p.NoiseMultiplier = 9e-6 }, "noise multiplier is 9e-06: want 0, or a number from 1e-5 to 1e9"},
		{func(p *Privacy) { p.NoiseMultiplier = 1.1e9 }, "noise multiplier is 1.1e+09: want 0, or a number from 1e-5 to 1e9"},
		{func(p *Privacy) { p.ClippingNorm = 0 }, "clipping norm is 0: want a number from 1e-9 to 1e9"},
		{func(p *Privacy) { p.ClippingNorm = math.NaN() }, "clipping norm is NaN: want a number from 1e-9 to 1e9"},
		{func(p *Privacy) { p.Clipping = "fixed" }, `clipping is fixed: want "" for fixed clipping, or "automatic"`},
		{func(p *Privacy) { p.Steps = -1 }, "steps is -1: want a whole number from 0 to 2147483647"},
		{func(p *Privacy) { p.Steps = math.MaxInt32 + 1 }, "steps is 2147483648: want a whole number from 0 to 2147483647"},
		{func(p *Privacy) { p.NominalSize = math.Inf(1) }, "nominal size is +Inf: want a finite number above 0"},
		{func(p *Privacy) { p.NominalSize = 0 }, "nominal size is 0: want a finite number above 0"},
	}
	for _, tt := range tests {
		p := good
		tt.change(&p)
		err := p.Validate()
		var setting *SettingError
		if !errors.As(err, &setting) || err.Error() != tt.want {
			t.Errorf("got %v\nwant %s", err, tt.want)
		}
	}
}

// Runs are resumed by this text of their settings, and by a hash of their privacy as JSON. Earlier versions wrote both
// without a rule of clipping.
func TestTextOfSettings(t *testing.T) {
	s := settings()
	fixed := fmt.Sprint(s)
	if s.Privacy.Clipping = AutomaticClipping; strings.Contains(fixed, " Clipping:") || !strings.Contains(fmt.Sprint(s), "ClippingNorm:2 Clipping:automatic Steps:50") {
		t.Errorf("%v and %v", fixed, s)
	}
	if text, err := json.Marshal(settings().Privacy); err != nil || strings.Contains(string(text), `"clipping"`) {
		t.Errorf("%s, %v", text, err)
	}
}
