package tuner

import (
	"slices"

	"github.com/dptrain/dptrain/internal/random"
	"github.com/dptrain/dptrain/train"
)

// FinalStream names the random streams of the final run. Trial i, counted from 0, has stream i+1.
const FinalStream uint32 = 0

// Plan is all that will be done, as pure data: the same settings and key give the same plan. It comes from
// [NewPlan] and stays as it is; other settings need another plan. [Executor.Run] draws the plan anew from its
// settings, on a copy, and runs and charges that: a plan whose draws were changed is refused.
type Plan struct {
	Settings Settings
	First    Candidate    // the answer when no trial is drawn
	Private  PrivateDraws `json:"-"`
}

// PrivateDraws are a plan's random choices. The guarantee doesn't cover them.
type PrivateDraws struct {
	Key    train.Key `json:"-"`
	Subset []int32   // X1, ascending; nil for the baseline
	Rest   []int32   // X \ X1, ascending, for variant 1; otherwise nil
	Trials []Trial   // K of them
}

// Trial is one draw from the search space.
type Trial struct {
	Stream    uint32 // names the trial's random streams
	Candidate Candidate
}

// NewPlan draws a plan. It refuses what [Settings.Validate] does, and the zero key, which anyone can guess. The plan
// is what was checked, and nothing in it is the caller's memory. Every plan that is carried out takes a key of its
// own: plans of one key draw their subsets and numbers of trials from the same streams, and the guarantees of draws
// that depend on each other don't add up.
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
	if s.Method != Baseline {
		draws.Subset = drawSubset(s, key)
	}
	if s.Method == Variant1 {
		draws.Rest = complement(draws.Subset, s.Samples)
	}
	return Plan{Settings: s, First: first, Private: draws}, nil
}

// redraw returns the plan that the settings and the key of p draw. Were p carried out as it is, members or
// trials that its settings don't draw would be charged as if they did.
func (p Plan) redraw() (Plan, error) {
	drawn, err := NewPlan(p.Settings, p.Private.Key)
	if err != nil {
		return Plan{}, err
	}
	given, want := p.Private, drawn.Private
	if p.First != drawn.First || !slices.Equal(given.Subset, want.Subset) || !slices.Equal(given.Rest, want.Rest) || !slices.Equal(given.Trials, want.Trials) {
		return Plan{}, &train.SettingError{Setting: "plan", Value: "not what its settings and key draw", Want: "one from tuner.NewPlan, unchanged"}
	}
	return drawn, nil
}

// drawSubset never returns nil: to a trainer, nil would mean all samples.
func drawSubset(s Settings, key train.Key) []int32 {
	stream := key.Stream(random.ID{Purpose: random.Subset})
	return stream.Bernoulli(s.SubsetRate, complement(nil, s.Samples), []int32{})
}

// complement returns those of 0..n-1 that aren't in members, which are ascending; never nil.
func complement(members []int32, n int) []int32 {
	rest := make([]int32, 0, n-len(members))
	for i := range int32(n) {
		if len(members) > 0 && members[0] == i {
			members = members[1:]
			continue
		}
		rest = append(rest, i)
	}
	return rest
}

// drawTrials draws K from the very distribution that the accountant charges. It gives each trial a
// stream of its own, so that its candidate doesn't depend on K.
func drawTrials(s Settings, key train.Key) ([]Trial, error) {
	trials := make([]Trial, s.Repetitions.Draw(key.Stream(random.ID{Purpose: random.Repetitions})))
	draw := s.Space.drawer()
	for i := range trials {
		stream := FinalStream + 1 + uint32(i)
		c, err := draw(key.Stream(random.ID{Purpose: random.Candidate, Trial: stream}))
		if err != nil {
			return nil, err
		}
		trials[i] = Trial{Stream: stream, Candidate: c}
	}
	return trials, nil
}

// trial returns how trial i trains.
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

// final returns how the released model is trained once tuning has chosen c.
func (p Plan) final(c Candidate) train.Settings {
	return train.Settings{
		Privacy:   p.Settings.privacy(c, p.Settings.finalSize()),
		Optimizer: p.Settings.optimizer(p.Settings.FinalLearningRate(c.LearningRate)),
		Key:       p.Private.Key,
		Trial:     FinalStream,
		Members:   p.Private.Rest,
	}
}

// String describes the public part.
func (p Plan) String() string { return p.Settings.String() }

// GoString describes the public part, so that no format prints the private one by accident.
func (p Plan) GoString() string { return p.String() }

// String tells nothing, so that no format prints the draws by accident.
func (PrivateDraws) String() string { return "private" }

// GoString tells nothing either.
func (PrivateDraws) GoString() string { return "private" }
