package experiment

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dptrain/dptrain/cmd/internal/runs"
	"github.com/dptrain/dptrain/cpu"
	"github.com/dptrain/dptrain/train"
	"github.com/dptrain/dptrain/tuner"
)

// post carries out trials by another plan of the same settings, one at a time from the last to the first, and sends
// each outcome as bytes.
type post struct {
	t    *testing.T
	plan *Plan
	key  train.Key
	runs int
}

func (p *post) Run(ctx context.Context, _ tuner.Plan, trials []int, done func(tuner.PrivateOutcome) error) error {
	for _, i := range slices.Backward(trials) {
		p.runs++
		outcomes, err := p.plan.PrivateTrials(ctx, cpu.New(cpu.Options{}), p.key, []int{i}, silent{})
		if err != nil {
			return err
		}
		sent, err := tuner.MarshalOutcomes(outcomes)
		if err != nil {
			return err
		}
		received, err := tuner.UnmarshalOutcomes(sent)
		if err != nil {
			return err
		}
		if diff := cmp.Diff(outcomes, received); diff != "" {
			p.t.Errorf("sent (-sent +received)\n%s", diff)
		}
		for _, o := range received {
			if err := done(o); err != nil {
				return err
			}
		}
	}
	return nil
}

// A run whose trials another process carries out releases what it releases alone.
func TestTrialsOfAnotherProcess(t *testing.T) {
	settings := own(t)
	for _, more := range [][]string{nil, {"privacy.variant=2"}, {"privacy.variant=baseline"}} {
		made := func() *Plan {
			p := resolve(t, true, append(slices.Clone(settings), more...)...)
			if err := p.Load(t.Context(), nil, new(recorder)); err != nil {
				t.Fatal(err)
			}
			return p
		}
		here, there := made(), made()
		key := here.Key()
		want, err := here.Run(t.Context(), cpu.New(cpu.Options{}), Options{Key: key}, silent{})
		if err != nil {
			t.Fatal(err)
		}
		transport := &post{t: t, plan: there, key: key}
		got, err := here.Run(t.Context(), cpu.New(cpu.Options{}), Options{Key: key, Trials: transport, Store: newDrawer()}, silent{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(covered(want), covered(got)); diff != "" {
			t.Errorf("%q (-here +elsewhere)\n%s", more, diff)
		}
		if n := len(want.Private.(runs.PrivateTuning).Trials); n == 0 || n != transport.runs {
			t.Errorf("%q: %d trials, %d carried out", more, n, transport.runs)
		}
	}
}

// A plan that doesn't tune, or isn't ready, has no trials.
func TestPlansWithoutTrials(t *testing.T) {
	settings := own(t)
	once := resolve(t, false, settings...)
	if err := once.Load(t.Context(), nil, new(recorder)); err != nil {
		t.Fatal(err)
	}
	if _, err := once.PrivateTrials(t.Context(), cpu.New(cpu.Options{}), once.Key(), nil, silent{}); err == nil || !strings.Contains(err.Error(), "trains once") {
		t.Errorf("a training: %v", err)
	}
	tune := resolve(t, true, settings...)
	if _, err := tune.PrivateTrials(t.Context(), cpu.New(cpu.Options{}), tune.Key(), nil, silent{}); err == nil {
		t.Error("no data, and no error")
	}
}
