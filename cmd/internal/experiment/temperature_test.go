package experiment

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/internal/networks"
	"github.com/dptrain/dptrain/train"
)

// graphParameters returns a released model's parameters as its graph takes them.
func graphParameters(t *testing.T, o Outcome) []train.Parameter {
	t.Helper()
	out, err := networks.FromPyTorch(o.Release.Model.Layers, o.Release.Parameters)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// lossAt returns the log loss of a released model's probabilities on its public rows, at a temperature.
func lossAt(t *testing.T, p *Plan, o Outcome, temperature float64) float64 {
	t.Helper()
	var values [][]float32
	for _, q := range graphParameters(t, o) {
		values = append(values, q.Values)
	}
	predictor, err := train.NewPredictor(cpu.New(cpu.Options{}), p.model, values)
	if err != nil {
		t.Fatal(err)
	}
	defer predictor.Close()
	public := p.data.test.(*train.Classification)
	outputs, err := predictor.Predict(t.Context(), public.Data)
	if err != nil {
		t.Fatal(err)
	}
	loss := 0.0
	for i, label := range public.Labels() {
		sum := 0.0
		for _, v := range outputs[i*public.Classes() : (i+1)*public.Classes()] {
			sum += math.Exp((float64(v) - float64(outputs[i*public.Classes()+int(label)])) / temperature)
		}
		loss += math.Log(sum)
	}
	return loss
}

// A released classifier has the temperature that is best on the 2,000 public samples, whether it was tuned or not;
// their smoothing moves it by less than a twentieth. It is a function of the release alone: two runs of one key
// agree.
func TestReleasedClassifiersAreCalibrated(t *testing.T) {
	for _, tune := range []bool{false, true} {
		quick := []string{"model=linear", "privacy.epochs=0.3", "privacy.accounting=paper", "privacy.mean_repetitions=3"}
		p := resolve(t, tune, quick...)
		o, _ := carryOut(t, p)
		got := o.Release.Model.Temperature
		if !(got > 0) {
			t.Fatalf("tune %t: temperature %v", tune, got)
		}
		best := lossAt(t, p, o, got)
		for _, other := range []float64{got / 1.1, got * 1.1} {
			if loss := lossAt(t, p, o, other); loss <= best {
				t.Errorf("tune %t: log loss %v at temperature %v, and %v at %v", tune, best, got, loss, other)
			}
		}
		again, _ := carryOut(t, resolve(t, tune, quick...))
		dirs := []string{t.TempDir(), t.TempDir()}
		if err := errors.Join(o.Release.Write(dirs[0]), again.Release.Write(dirs[1])); err != nil {
			t.Fatal(err)
		}
		var files [2][]byte
		for i, dir := range dirs {
			text, err := os.ReadFile(filepath.Join(dir, "model.json"))
			if err != nil {
				t.Fatal(err)
			}
			files[i] = text
		}
		if !bytes.Equal(files[0], files[1]) || !bytes.Contains(files[0], []byte(`"version": 2,`)) {
			t.Errorf("tune %t: two runs of one key released\n%s\n%s", tune, files[0], files[1])
		}
	}
}

// Sixty public rows that the model separates don't make it certain: no row may count for more than the smoothing
// allows, a mean probability of 61/62.
func TestSeparatedRowsLeaveDoubt(t *testing.T) {
	p := resolve(t, false, own(t)...)
	o, _ := carryOut(t, p)
	if o.Release.Score.Value != 1 {
		t.Fatalf("accuracy %v: the rows were meant to be separated", o.Release.Score.Value)
	}
	// All rows are alike but for their sign, so that the mean probability is the one of the targets.
	mean := math.Exp(-lossAt(t, p, o, o.Release.Model.Temperature) / 60)
	if math.Abs(mean-61.0/62) > 0.005 {
		t.Errorf("mean probability %v at temperature %v, want about %v", mean, o.Release.Model.Temperature, 61.0/62)
	}
}

// Numbers have no probabilities, so a regression has no temperature; nor has a model without public samples.
func TestNoTemperature(t *testing.T) {
	numbers, err := train.NewRegression([]float32{1, 2}, []float32{3, 5})
	if err != nil {
		t.Fatal(err)
	}
	empty, err := train.NewClassification(nil, nil, 2)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]train.Labelled{"regression": numbers, "none": nil, "no samples": empty} {
		if got, _, err := temperatureOf(t.Context(), cpu.New(cpu.Options{}), train.Model{}, nil, test); got != 0 || err != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// A run that is cancelled while its temperature is fitted releases nothing.
func TestTemperatureIsCancelled(t *testing.T) {
	p := resolve(t, false, own(t)...)
	o, _ := carryOut(t, p)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	g := &group{engine: cpu.New(cpu.Options{}), model: p.model, data: p.data, members: []*member{{trained: trained{parameters: graphParameters(t, o)}}}}
	if err := g.temper(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	g.members[0].err = errors.New("it has failed already")
	if err := g.temper(ctx); err != nil {
		t.Errorf("a plan without a model: %v", err)
	}
	if _, _, err := temperatureOf(t.Context(), g.engine, p.model, []train.Parameter{{}}, p.data.test); err == nil || !strings.Contains(err.Error(), "fit the temperature") {
		t.Errorf("wrong parameters: %v", err)
	}
	if m := p.data.model; m.Temperature != 0 || m.Task != release.Classification {
		t.Errorf("the data's description has a run's temperature: %+v", m)
	}
}
