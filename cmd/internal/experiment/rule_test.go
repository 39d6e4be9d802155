package experiment

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/datasets/table"
	"github.com/dptrain/dptrain/train"
)

// The signal is n/√p over the noise of one Gaussian mechanism that the accountant grants the epsilon, within a seventh.
func TestSignal(t *testing.T) {
	for _, epsilon := range []float64{0.25, 0.5, 1, 2, 4, 8} {
		noise, err := accountant.CalibrateNoise(epsilon, 1e-5, accountant.Options{}, func(noise float64) accountant.Event { return accountant.Gaussian{NoiseMultiplier: noise} })
		if err != nil {
			t.Fatal(err)
		}
		got := signalOf(settings.Privacy{Epsilon: &epsilon, Delta: 1e-5}, 900, 9, 0)
		if want := 300 / noise; math.Abs(got/want-1) > 1.0/7 {
			t.Errorf("epsilon %v: %v, want about %v", epsilon, got, want)
		}
		if three := signalOf(settings.Privacy{Epsilon: &epsilon, Delta: 1e-5}, 900, 9, 3); math.Abs(3*three-got) > 1e-9*got {
			t.Errorf("epsilon %v: three rows a unit have %v, one %v", epsilon, three, got)
		}
	}
}

// By hand: of public columns ±1 and ±3 the variances are 1 and 9. Without public rows a range is five deviations,
// each of k categories varies by (1-1/k)/k, and what has no range by 1.
func TestSpread(t *testing.T) {
	s := &table.Schema{Shape: []int{2, 1}, Label: table.Label{Task: table.Regression}}
	public := &table.Samples{N: 2, Values: []float32{1, 5, -1, -1}, Numbers: []float32{3, -4}}
	if got, want := spreadOf(s, public), (spread{10, 2, math.Sqrt(12.5)}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	s = &table.Schema{Shape: []int{8}, Columns: []table.Column{
		{Name: "age", Clip: &table.Range{Low: 0, High: 100}, Scale: &table.Scale{Shift: 50, Divisor: -10}}, // 2
		{Name: "mass", Clip: &table.Range{Low: -1, High: 14}},                                              // 3
		{Name: "other", Shape: []int{2}},
		{Name: "colour", Categories: []string{"a", "b", "c", "d"}}, // 3/4 in all
	}, Label: table.Label{Task: table.Regression, Clip: &table.Range{Low: 0, High: 20}, Scale: &table.Scale{Divisor: -2}}}
	if got, want := spreadOf(s, nil), (spread{4 + 9 + 2 + 0.75, 8, 2}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// The rule's formulas, at numbers that make them easy: a signal of 30 and values of variance 1, or 16 times these.
func TestRuleByHand(t *testing.T) {
	e := experiment(t, "dataset=files")
	for _, c := range []struct {
		s             spread
		numbers       bool
		n             int
		signal        float64
		rate, clip, q float64
	}{
		{spread{3, 3, 1}, false, 500, 30, 0.026, 0.44, 1},  // 0.04 √(4·30)
		{spread{3, 3, 1}, false, 500, 480, 0.052, 1.8, 1},  // twice, and four times
		{spread{48, 3, 1}, false, 500, 30, 0.0092, 1.5, 1}, // 4^-3/4 = 0.354; 0.04 √(49·30)
		{spread{3, 3, 2}, true, 500, 30, 0.012, 2.2, 1},    // 2·0.1 √120
		{spread{3, 3, 0}, true, 500, 30, 0.006, 1.1, 1},    // labels that are all 0
		{spread{0, 3, 1}, false, 500, 30, 0.026, 0.22, 1},  // columns that don't vary: 0.04 √30
		{spread{3, 3, 1}, false, 200_000, 30, 0.026, 0.44, 0.25},
	} {
		got := byRule(e, c.s, c.numbers, c.n, c.signal)
		if err := got.Validate(); err != nil {
			t.Error(err)
		}
		if got.Training.LearningRate != c.rate || got.Privacy.ClippingNorm != c.clip || got.Privacy.SamplingRate != c.q {
			t.Errorf("%+v: rate %v, clipping norm %v, sampling rate %v", c, got.Training.LearningRate, got.Privacy.ClippingNorm, got.Privacy.SamplingRate)
		}
		if o := Optimizer(got.Training, 0); o.Average != 0.99 || o.Method != train.DPAdam {
			t.Errorf("%+v: %+v", c, o)
		}
		if steps, err := Steps(got.Privacy); err != nil || steps != 300 {
			t.Errorf("%+v: %d steps, %v", c, steps, err)
		}
	}
}

// A search is planned where one is asked for or the rule doesn't apply, and else none.
func TestChoice(t *testing.T) {
	for _, c := range []struct {
		set         string
		train, tune bool // by rule: of a training, of a tuning
		refused     string
	}{
		{"", true, true, ""},
		{"privacy.epsilon=0.5 privacy.delta=0.001 privacy.accounting=tight performance.workers=1", true, true, ""},
		{"tuning.tune=rule", true, true, ""},
		{"tuning.tune=rate", false, false, ""},
		{"tuning.tune=all", false, false, ""},
		{"model=mlp:3", false, false, ""},
		{"privacy.noise_multiplier=2", false, false, ""},
		{"privacy.clipping_norm=2", false, false, ""},
		{"privacy.epochs=3", false, false, ""},
		{"privacy.variant=2", false, false, ""},
		{"privacy.holdout=0.2", true, false, ""}, // a training holds nothing out
		{"training.learning_rate=0.5", false, false, ""},
		{"training.average=0.9", false, false, ""},
		{"tuning.metric=auc", false, false, ""},
		{"tuning.learning_rates=1,2", false, false, ""},
		{"tuning.tune=rule model=mlp:3", false, false, "it is for linear models, and this is mlp:3"},
		{"tuning.tune=rule privacy.epochs=3", false, false, "settings ask for other runs than its own"},
		{"privacy.clipping=automatic", false, false, ""},
		{"tuning.tune=rule privacy.clipping=automatic", false, false, "it is for fixed clipping"},
		{"tuning.tune=rule privacy.noise_multiplier=2", false, false, "it goes by --epsilon"},
	} {
		for _, tune := range []bool{false, true} {
			p, err := New(Settings{Experiment: experiment(t, append(own(t)[:3], strings.Fields(c.set)...)...), Tune: tune})
			if c.refused != "" && tune {
				if err == nil || !strings.Contains(err.Error(), c.refused) {
					t.Errorf("%s: %v, want %q", c.set, err, c.refused)
				}
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", c.set, err)
			}
			want := c.train && !tune || c.tune && tune
			if p.choice.ruled != want || p.tune != (tune && !want) || want != p.Experiment.TunesBy(settings.TuneRule) && !strings.Contains(c.set, "rule") {
				t.Errorf("%s, tune %t: by rule %t, and tunes %t", c.set, tune, p.choice.ruled, p.tune)
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	_, err := New(Settings{Experiment: experiment(t, "dataset=glyphs", "model=linear", "tuning.tune=rule"), Tune: true})
	if err == nil || !strings.Contains(err.Error(), "it is for files of your own") {
		t.Errorf("of a named data set: %v", err)
	}
}

// A run by the rule learns, in one training, and without public rows too. The plan says what a search would have cost.
func TestRunByRule(t *testing.T) {
	p := resolve(t, true, append(own(t)[:3], "privacy.accounting=paper")...)
	facts := func(p *Plan) (text string) {
		for _, f := range p.Facts() {
			text += f[0] + ": " + f[1] + "\n"
		}
		return text
	}
	with := func(tune bool, more ...string) *Plan {
		t.Helper()
		return resolve(t, tune, append(own(t)[:3], append(more, "privacy.accounting=paper")...)...)
	}
	noise := with(true, "tuning.tune=rate").Statement().NoiseMultiplier / with(false, "training.learning_rate=0.5").Statement().NoiseMultiplier
	for _, want := range []string{
		"by rule: hyperparameters from public numbers alone; a search, --tune rate, would choose by trials on 10 % of the rows and train on the others, with " +
			fmt.Sprintf("%.3g times the noise of one run\n", noise), "300 steps at sampling rate 1", "epsilon 3 at delta 1e-05, for one training run, with hyperparameters from public numbers",
	} {
		if got := facts(p); !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if got := facts(with(false)); !strings.Contains(got, "by rule: hyperparameters from public numbers alone\n") {
		t.Error(got)
	}
	for _, tune := range []bool{false, true} {
		if got := facts(with(tune, "model=mlp:3")); strings.Contains(got, "search: the rule for hyperparameters doesn't apply: it is for linear models, and this is mlp:3\n") != tune {
			t.Error(got)
		}
	}
	// Two classes, each with a weight and a bias.
	if want := signalOf(p.Experiment.Privacy, 300, 4, 0); p.choice.signal != want || !p.Again(nil).choice.ruled {
		t.Errorf("signal %v, want %v", p.choice.signal, want)
	}
	units := resolve(t, true, own(t)[1], "data.label=y", "data.train="+file(t, "x,u,y\n"+strings.Repeat("-1,a,no\n1,b,yes\n", 2)), "data.unit=u", "data.rows_per_unit=2", "data.task=classification", "privacy.accounting=paper")
	if want := signalOf(p.Experiment.Privacy, 4, 4, 2); units.choice.signal != want {
		t.Errorf("signal of units %v, want %v", units.choice.signal, want)
	}
	// Settings of such a run are its own, as resume needs them; with another rate no rule gave them.
	again := func(rate float64) *Plan {
		t.Helper()
		e := p.Experiment
		e.Training.LearningRate *= rate
		p, err := New(Settings{Experiment: e})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(p.Settle(), p.Close()); err != nil {
			t.Fatal(err)
		}
		return p
	}
	if other := again(2); !again(1).Statement().ByRule || other.Statement().ByRule || other.Experiment.Training.LearningRate != 2*p.Experiment.Training.LearningRate {
		t.Errorf("again: %+v, %+v", again(1).Statement(), other.Statement())
	}
	if o, _ := carryOut(t, p); o.Release.Score.Value != 1 || o.Verdict.Warning != "" {
		t.Errorf("accuracy %v, warning %q", o.Release.Score.Value, o.Verdict.Warning)
	}
	settings := []string{own(t)[0], "data.label=y", "data.columns=x", "data.classes=no,yes", "data.task=classification"}
	unscored := resolve(t, true, settings...)
	if o, _ := carryOut(t, unscored); o.Release.Score.Metric != "" || !strings.Contains(facts(unscored), "public numbers alone\n") {
		t.Errorf("without public rows: %+v, %s", o.Release.Score, facts(unscored))
	}
	settings = append(settings, "privacy.epsilon=0.001")
	if got := resolve(t, true, settings...).Cautions(); len(got) != 1 || !strings.HasPrefix(got[0], "what the rows have to say is 0.0") {
		t.Errorf("%q", got)
	}
}

// A model of a faint signal may be no better than one answer, and the plan says so.
func TestFaintSignalWarns(t *testing.T) {
	for signal, warned := range map[float64]bool{0.2: true, 2.9: true, 3: false, 30: false} {
		if got := (choice{ruled: true, signal: signal}).warning(); (got != "") != warned {
			t.Errorf("%v: %q", signal, got)
		}
	}
	if got := (choice{}).warning(); got != "" {
		t.Errorf("without a rule: %q", got)
	}
}
