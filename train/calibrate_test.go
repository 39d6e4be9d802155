package train_test

import (
	"reflect"
	"testing"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/train"
)

// What settings cost is what their mechanism is charged, and can be asked before they are complete.
func TestEventOfSettings(t *testing.T) {
	p := train.Privacy{SamplingRate: 0.1, NoiseMultiplier: 2, Steps: 10}
	want := accountant.DPSGD(0.1, 2, 10)
	if got := p.Event(); !reflect.DeepEqual(got, want) {
		t.Errorf("incomplete settings: %+v, want %+v", got, want)
	}
	p.ClippingNorm, p.NominalSize = 1, 100
	m, err := train.NewMechanism(p)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(m.Event(), want) || !reflect.DeepEqual(p.Event(), want) {
		t.Errorf("the mechanism's is %+v, the settings' %+v, want %+v", m.Event(), p.Event(), want)
	}
}
