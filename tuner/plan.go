package tuner

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/internal/random"
	"github.com/dptrain/dptrain/train"
)

// finalStream is the stream number of the final run. Trial i, counted from 0, has stream number i+1. The number selects
// random streams.
const finalStream uint32 = 0

// Plan describes a tuning and all its random choices as pure data. Make it by [NewPlan], and don't change it:
// [Executor.Run] draws the plan again from its settings and key, and refuses a plan that differs from it. The same
// settings and key give the same plan.
type Plan struct {
	Settings Settings
	First    Candidate    // the winner if no trial is drawn
	Private  PrivateDraws `json:"-"`
}

// PrivateDraws are the random choices of a plan. The guarantee doesn't cover them.
type PrivateDraws struct {
	Key     train.Key `json:"-"`
	HeldOut []int32   `json:",omitempty"` // H, ascending; nil if none are held out
	Subset  []int32   // X1, ascending; for the baseline all of X \ H, or nil if none are held out
	Rest    []int32   // the final run's samples, ascending; nil for all of X and for the baseline
	Trials  []Trial   // K of them
}

// Trial is one draw from the search space.
type Trial struct {
	Stream    uint32 // the number of the trial's random streams
	Candidate Candidate
}

// PlanWithin draws a plan whose tuning and final run together cost at most epsilon at delta, with the least noise that
// the best bounds allow, and returns its guarantee. It returns the errors of [Calibrate] and [NewPlan], which it calls.
func PlanWithin(s Settings, epsilon, delta float64, key train.Key) (Plan, accountant.Guarantee, error) {
	s, guarantee, err := Calibrate(s, epsilon, delta, accountant.Options{})
	if err != nil {
		return Plan{}, accountant.Guarantee{}, err
	}
	plan, err := NewPlan(s, key)
	return plan, guarantee, err
}

// NewPlan draws a plan. It returns the errors of [Settings.Validate], and a [*train.SettingError] for the zero key. It
// copies the settings. Give each plan that is carried out its own key. Plans with the same key draw their subsets and
// numbers of trials from the same streams, so the draws aren't independent, and the guarantees of the plans don't
// compose.
func NewPlan(s Settings, key train.Key) (Plan, error) {
	s = s.own()
	if err := s.Validate(); err != nil {
		return Plan{}, err
	}
	if key == (train.Key{}) {
		return Plan{}, &train.SettingError{Setting: "key", Value: "zero", Want: "one from train.NewKey"}
	}
	first, err := s.Space.first()
	if err != nil {
		return Plan{}, err
	}
	trials, err := drawTrials(s, key)
	if err != nil {
		return Plan{}, err
	}
	draws := PrivateDraws{Key: key, Trials: trials}
	draws.draw(s, key)
	return Plan{Settings: s, First: first, Private: draws}, nil
}

// redraw returns the plan that [NewPlan] draws from the settings and the key of p, or an error if p differs from it:
// other members or trials would be charged as if the settings had drawn them.
func (p Plan) redraw() (Plan, error) {
	drawn, err := NewPlan(p.Settings, p.Private.Key)
	if err != nil {
		return Plan{}, err
	}
	given, want := p.Private, drawn.Private
	if p.First != drawn.First || !slices.Equal(given.HeldOut, want.HeldOut) || !slices.Equal(given.Subset, want.Subset) || !slices.Equal(given.Rest, want.Rest) || !slices.Equal(given.Trials, want.Trials) {
		return Plan{}, &train.SettingError{Setting: "plan", Value: "not what its settings and key draw", Want: "one from tuner.NewPlan, unchanged"}
	}
	return drawn, nil
}

// digest returns a hash of the plan, its private draws and its key included.
func (p Plan) digest() (string, error) {
	encoded, err := json.Marshal(struct {
		Settings     Settings
		First        Candidate
		Key          []byte
		HeldOut      []int32 `json:",omitempty"`
		Subset, Rest []int32
		Trials       []Trial
	}{p.Settings, p.First, p.Private.Key[:], p.Private.HeldOut, p.Private.Subset, p.Private.Rest, p.Private.Trials})
	if err != nil {
		return "", fmt.Errorf("hash the plan: %w", err)
	}
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:]), nil
}

// draw draws the held-out samples, and the trials' and the final run's samples among the others. A list of some samples
// is never nil, since nil means all.
func (d *PrivateDraws) draw(s Settings, key train.Key) {
	all := make([]int32, s.Samples)
	for i := range all {
		all[i] = int32(i)
	}
	if s.holdsOut() {
		d.HeldOut = random.SamplerOf(s.HoldOut.Rate).Sample(key.Stream(random.ID{Purpose: random.HeldOut}), all, []int32{})
		all = remaining(all, d.HeldOut)
	}
	switch s.Method {
	case Variant1, Variant2:
		d.Subset = random.SamplerOf(s.SubsetRate).Sample(key.Stream(random.ID{Purpose: random.Subset}), all, []int32{})
	case Baseline:
		if s.holdsOut() {
			d.Subset = all
		}
	}
	switch {
	case s.Method == Variant1:
		d.Rest = remaining(all, d.Subset)
	case s.holdsOut():
		d.Rest = all
	}
}

// remaining returns the members that aren't in others, all of which are members. Both ascend. The result is never nil.
func remaining(members, others []int32) []int32 {
	rest := make([]int32, 0, len(members)-len(others))
	for _, m := range members {
		if len(others) > 0 && others[0] == m {
			others = others[1:]
			continue
		}
		rest = append(rest, m)
	}
	return rest
}

// drawTrials draws K, from the distribution that the accountant charges, and K trials. Each trial has its own stream,
// so that its candidate doesn't depend on K.
func drawTrials(s Settings, key train.Key) ([]Trial, error) {
	trials := make([]Trial, s.Repetitions.Draw(key.Stream(random.ID{Purpose: random.Repetitions})))
	draw := s.Space.drawer()
	for i := range trials {
		stream := finalStream + 1 + uint32(i)
		c, err := draw(key.Stream(random.ID{Purpose: random.Candidate, Trial: stream}))
		if err != nil {
			return nil, err
		}
		trials[i] = Trial{Stream: stream, Candidate: c}
	}
	return trials, nil
}

// trial returns the training settings of trial i.
func (p Plan) trial(i int) train.Settings {
	c := p.Private.Trials[i].Candidate
	return train.Settings{
		Privacy:   p.Settings.privacy(c, p.Settings.trialSize()),
		Optimizer: p.Settings.optimizer(c.LearningRate),
		Key:       p.Private.Key,
		Trial:     p.Private.Trials[i].Stream,
		Members:   p.Private.Subset,
	}
}

// final returns the training settings of the released model for the chosen candidate.
func (p Plan) final(c Candidate) train.Settings {
	return train.Settings{
		Privacy:   p.Settings.privacy(c, p.Settings.finalSize()),
		Optimizer: p.Settings.optimizer(p.Settings.FinalLearningRate(c.LearningRate)),
		Key:       p.Private.Key,
		Trial:     finalStream,
		Members:   p.Private.Rest,
	}
}

// String reveals nothing, so that no format prints the draws by accident.
func (PrivateDraws) String() string { return "private" }

// GoString returns the same text as String, which reveals nothing.
func (PrivateDraws) GoString() string { return "private" }
