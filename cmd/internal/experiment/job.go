package experiment

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/release/scores"
	"github.com/dptrain/dptrain/cmd/internal/runs"
	"github.com/dptrain/dptrain/train"
	"github.com/dptrain/dptrain/tuner"
)

// Job is a plan to carry out beside others by [RunAll].
type Job struct {
	Plan     *Plan   // settled, its data loaded
	Options  Options // with a key and a store of its own
	Follower Follower
}

// Options says how a plan is carried out.
type Options struct {
	Key   train.Key     // of all draws: see [Plan.Key]
	Store train.Store   // keeps states, from which another process can go on; nil keeps nothing
	Every time.Duration // between two saves; 0 means a minute
	// Trials carries out the trials of a tuning elsewhere, by [Plan.PrivateTrials]; nil trains them here.
	Trials tuner.PrivateTrials
	// Curve spaces the points of the released learning curve, none if it is zero. [Plan.CheckCurve] says whether there
	// can be one.
	Curve train.Spacing
}

// keeper returns the keeper of a plan's states and learning curve.
func (o Options) keeper(p *Plan) train.Keeper {
	keeper := train.Keeper{Store: o.Store, Every: o.Every}
	if !p.holdsOut() { // held-out samples score a model once
		keeper.Curve, keeper.Spacing = p.scored(), o.Curve
	}
	return keeper
}

// Space returns the number of bytes that a loaded plan's states and its model take on the disk. It is public: it counts
// as many trials as one run in twenty exceeds. A state has the parameters and up to two moments, and may be there twice
// while it is replaced.
func (p *Plan) Space() int64 {
	parameters := 0
	for _, n := range p.model.Parameters {
		parameters += n.Shape().TotalSize()
	}
	const copies, tensors, rest = 2, 3, 1 << 20
	states := copies * tensors * runsHeld(p.Experiment, p.tune)
	return int64(4*float64(parameters)*(states+1)) + rest
}

// KeyIn returns the key of the run in a folder. If the folder has none, KeyIn makes a key and keeps it, before anything
// is drawn from it.
func (p *Plan) KeyIn(folder *runs.Run) (key train.Key, err error) {
	kept, err := folder.Key()
	if err != nil {
		return key, err
	}
	if len(kept) == len(key) && train.Key(kept) != (train.Key{}) { // a destroyed key leaves zeros
		return train.Key(kept), nil
	}
	if kept != nil {
		return key, fmt.Errorf("the run in %s can't be resumed: its key is damaged; move it away, and start a new one, which is another release", folder.Dir())
	}
	key = p.Key()
	return key, folder.KeepKey(key[:])
}

// Key returns a new key, or the key of Settings.InsecureSeed.
func (p *Plan) Key() train.Key {
	if p.seed != nil {
		return train.InsecureKey(*p.seed)
	}
	return train.NewKey()
}

// Run carries out a settled plan whose data are loaded. If the store has the work of an earlier call, Run goes on from
// it. The error wraps [train.ErrOtherRun] if that work has another plan, data, model or engine arithmetic.
func (p *Plan) Run(ctx context.Context, e train.Engine, o Options, f Follower) (Outcome, error) {
	outcomes, err := RunAll(ctx, e, []Job{{p, o, f}})
	switch failed := err.(type) {
	case tuner.PlanErrors:
		err = failed[0]
	case *tuner.PlanError:
		err = failed.Err
	}
	if err != nil {
		return Outcome{}, err
	}
	return outcomes[0], nil
}

// Outcome is the result of a run.
type Outcome struct {
	Release release.Release
	Verdict Verdict // public: computed from the release and public labels
	Private any     // the content of private/run.json
	// Evaluation measures a classification on the public test set; nil without one. It is as public as the release.
	Evaluation *release.Evaluation
}

// trained is the result of a [work].
type trained struct {
	parameters      []train.Parameter
	score           float64             // on the public test set
	heldOut         *train.HeldOutScore // instead of it, if samples are held out
	hyperparameters release.Hyperparameters
	private         any           // for private/run.json
	curve           []train.Point // nil for none
	temperature     float64       // of probabilities; 0 for none: see temperatureOf
	measured        *scores.Classification
}

// PrivateJSON returns the content of private/run.json.
func (o Outcome) PrivateJSON() ([]byte, error) { return json.MarshalIndent(o.Private, "", "  ") }
