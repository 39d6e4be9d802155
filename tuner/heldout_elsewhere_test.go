package tuner

import (
	"context"
	"reflect"
	"testing"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/train"
)

// Trials on another machine have the same scores, bit for bit, and nothing else differs.
func TestHeldOutTrialsElsewhere(t *testing.T) {
	data := labelled(t, 300, 1)
	for _, m := range []Method{Variant1, Variant2, Baseline} {
		s := settings(m, 3)
		s.Samples, s.HoldOut = 300, train.HeldOutSettings{Rate: 0.3, NoiseMultiplier: 4}
		plan := planWith(t, s, 3)
		e := Executor{Engine: cpu.New(cpu.Options{Workers: 1}), Model: linear(), Data: data.Data, Test: data}
		here := mustRun(t, e, plan)
		outcomes, err := e.RunTrials(context.Background(), plan, []int{2, 0, 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range outcomes {
			if want := here.Private.Trials[o.Trial].Score; o.Score != want || o.Score == here.Released.TestScore {
				t.Errorf("%v: trial %d has score %v elsewhere and %v here, and %v is released", m, o.Trial, o.Score, want, here.Released.TestScore)
			}
		}
	}
}

// Without a trial the first candidate, or the baseline's untrained model, is scored. A fixed number of trials gives
// exactly that many.
func TestHeldOutNumbersOfTrials(t *testing.T) {
	data := labelled(t, 300, 1)
	e := Executor{Engine: cpu.New(cpu.Options{Workers: 1}), Model: linear(), Data: data.Data, Test: data}
	for _, m := range []Method{Variant1, Variant2, Baseline} {
		s := settings(m, 1)
		s.Samples, s.HoldOut = 300, train.HeldOutSettings{Rate: 0.3, NoiseMultiplier: 4}
		none := mustRun(t, e, planWith(t, s, 0))
		if h := none.Released.HeldOut; h == nil || none.Released.TestScore != h.Score || none.Private.Best != -1 {
			t.Errorf("%v without trials: %+v", m, none.Released)
		}
		s.Repetitions = accountant.Fixed{Trials: 2}
		for seed := range uint64(5) {
			if plan := mustPlan(t, s, seed); len(plan.Private.Trials) != 2 {
				t.Errorf("%v: %d trials, want 2", m, len(plan.Private.Trials))
			}
		}
		if two := mustRun(t, e, mustPlan(t, s, 1)); two.Released.HeldOut == nil || len(two.Private.Trials) != 2 {
			t.Errorf("%v with two trials: %+v", m, two.Released)
		}
	}
}

// Another sample at the end changes neither which earlier samples are held out nor the trials: the draws depend on
// positions and settings alone.
func TestHeldOutSplitOfNeighbours(t *testing.T) {
	for _, m := range []Method{Variant1, Variant2, Baseline} {
		s := settings(m, 3)
		s.Samples, s.HoldOut = 300, train.HeldOutSettings{Rate: 0.3, NoiseMultiplier: 4}
		a := mustPlan(t, s, 9)
		s.Samples++
		b := mustPlan(t, s, 9)
		before := func(members []int32) (out []int32) {
			for _, i := range members {
				if i < 300 {
					out = append(out, i)
				}
			}
			return out
		}
		if !reflect.DeepEqual(before(b.Private.HeldOut), a.Private.HeldOut) {
			t.Errorf("%v: one sample more changes who is held out", m)
		}
		if !reflect.DeepEqual(a.Private.Trials, b.Private.Trials) {
			t.Errorf("%v: one sample more changes the trials", m)
		}
	}
}
