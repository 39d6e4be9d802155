package tuner

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/train"
)

// test returns the set on which a plan's models are scored: the public test set, or the data's held-out samples with
// their labels.
func (p Plan) test(data *train.Data, test train.Labelled) (train.Labelled, error) {
	switch {
	case !p.Settings.holdsOut():
		return test, nil
	case test == nil || test.Inputs() != data:
		return nil, &train.SettingError{Setting: "test set", Value: "other samples than the training data", Want: "the training data with their labels, as the plan holds out samples"}
	}
	return train.NewHeldOut(test, p.Private.HeldOut, p.Settings.HoldOut)
}

// scoreReleased scores the released model of a plan that holds out samples once more, with fresh noise: the noise of
// the selecting score favours the selected model. It fails only if ctx is cancelled.
func (x *execution) scoreReleased(ctx context.Context, e Executor) error {
	heldOut, ok := x.test.(*train.HeldOut)
	if !ok || !x.ended || x.err != nil {
		return nil
	}
	score, err := x.releasedScore(ctx, e, heldOut)
	if err != nil {
		x.result, x.ended, x.err = Result{}, false, fmt.Errorf("score the released model: %w", err)
		return ctx.Err()
	}
	x.result.Released.HeldOut, x.result.Released.TestScore = &score, score.Score
	return nil
}

func (x *execution) releasedScore(ctx context.Context, e Executor, heldOut *train.HeldOut) (score train.HeldOutScore, err error) {
	predictor, err := train.NewPredictor(e.Engine, e.Model, values(x.result.Released.Parameters))
	if err != nil {
		return score, err
	}
	defer func() { err = errors.Join(err, predictor.Close()) }()
	outputs, err := predictor.Predict(ctx, heldOut.Inputs())
	if err != nil {
		return score, err
	}
	return heldOut.Release(outputs, x.plan.Settings.Samples, x.plan.Private.Key)
}

// values returns a model's values as initial ones.
func values(model []train.Parameter) [][]float32 {
	var out [][]float32
	for _, p := range model {
		out = append(out, p.Values)
	}
	return out
}

// withHoldOutNoise returns s with the smallest noise of scores with which held-out samples meet a budget. They take no
// share of the runs' budget: see [Settings.Event].
func (s Settings) withHoldOutNoise(epsilon, delta float64, o accountant.Options) (Settings, error) {
	noisy := func(noise float64) Settings {
		s := s
		s.HoldOut.NoiseMultiplier = noise
		return s
	}
	noise, err := accountant.CalibrateNoise(epsilon, delta, o, func(noise float64) accountant.Event { return noisy(noise).HoldOutEvent() })
	if err != nil {
		return Settings{}, fmt.Errorf("noise of scores on held-out samples: %w", err)
	}
	return noisy(noise), nil
}

// calibrated calibrates the runs of s by the given function, and then the noise of scores, if samples are held out.
func (s Settings) calibrated(epsilon, delta float64, o accountant.Options, runs func(Settings, float64, float64, accountant.Options) (Settings, accountant.Guarantee, error)) (Settings, accountant.Guarantee, error) {
	heldOut := s.HoldOut
	s.HoldOut = train.HeldOutSettings{}
	s, _, err := runs(s, epsilon, delta, o)
	if err != nil {
		return Settings{}, accountant.Guarantee{}, err
	}
	s.HoldOut = heldOut
	if s, err = s.withHoldOutNoise(epsilon, delta, o); err != nil {
		return Settings{}, accountant.Guarantee{}, err
	}
	g, err := s.Guarantee(delta, o)
	return s, g, err
}

// CalibrateHoldOut returns a copy of s whose noise of scores is the smallest with which held-out samples cost no more
// than all others at delta, and the guarantee of that copy. Without held-out samples it changes nothing.
func CalibrateHoldOut(s Settings, delta float64, o accountant.Options) (Settings, accountant.Guarantee, error) {
	s = s.own()
	if err := s.validateMethod(); err != nil {
		return Settings{}, accountant.Guarantee{}, err
	}
	g, err := accountant.Epsilon(s.runs(), delta, o)
	if err != nil || !s.holdsOut() || math.IsInf(g.Epsilon, 1) {
		return s, g, err
	}
	if s, err = s.withHoldOutNoise(g.Epsilon, delta, o); err != nil {
		return Settings{}, accountant.Guarantee{}, err
	}
	g, err = s.Guarantee(delta, o)
	return s, g, err
}
