package campaign

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/dptrain/dptrain/internal/remote"
	"github.com/dptrain/dptrain/internal/report"
	"github.com/dptrain/dptrain/internal/runs"
)

// end is what a run came to, as far as other deliveries of it are compared.
type end struct {
	digest              [sha256.Size]byte
	machine, arithmetic string // arithmetic is empty if it isn't known
}

func endOf(d remote.Delivery) end { return end{d.Digest(), d.Machine, d.Arithmetic} }

// arithmeticNote begins the moment in a run's record that says in which arithmetic another machine trained it.
const arithmeticNote = "delivered, arithmetic: "

// failureNote begins the moment in a run's record that says why it gave no model, as package runs writes it.
const failureNote = "failed: "

// stoppedNote begins the moment in a run's record that says why it stopped, as package runs writes it.
const stoppedNote = "stopped: "

// late compares a delivery of a run that has ended with what it ended in. A delivery of a run that was cut off is kept
// until the queue hands out its task; one of a run that the store doesn't have is forgotten.
func (x *direction) late(ctx context.Context, d remote.Delivery) error {
	if err := d.Check(); err != nil {
		x.Follower.Warn(fmt.Sprintf("what machine %.200q delivered of a run that isn't out is refused: %v", d.Machine, err))
		return x.fleet.Done(ctx, d.Run)
	}
	before, known := x.ended[d.Run]
	if !known {
		info, err := x.runByID(d.Run)
		switch {
		case err != nil:
			return err
		case info == nil:
			x.Follower.Note(fmt.Sprintf("machine %q delivered a run that this campaign doesn't have; it is forgotten", d.Machine))
			return x.fleet.Done(ctx, d.Run)
		case info.Stage != runs.Finished && info.Stage != runs.Failed:
			return x.keepEarly(ctx, *info, d)
		}
		if before, err = endIn(*info); err != nil {
			return err
		}
		x.ended[d.Run] = before
	}
	if now := endOf(d); now.digest != before.digest {
		x.noteDifference(d.Run, before, now)
	}
	return x.fleet.Done(ctx, d.Run)
}

// keepEarly keeps a delivery of a run that was out before this call.
func (x *direction) keepEarly(ctx context.Context, i runs.Info, d remote.Delivery) error {
	if _, ok := ParseTask(filepath.Base(i.Dir)); ok {
		x.early[d.Run] = append(x.early[d.Run], d)
		return nil
	}
	x.Follower.Note(fmt.Sprintf("machine %q delivered the run in %s, which was given up; it is forgotten", d.Machine, i.Dir))
	return x.fleet.Done(ctx, d.Run)
}

// noteDifference reports two different results of one run. Only on equal arithmetic is one of them wrong.
func (x *direction) noteDifference(run string, before, now end) {
	text := fmt.Sprintf("run %s came to different results on machine %q and on machine %q", run, before.machine, now.machine)
	switch {
	case before.arithmetic == "":
		x.Follower.Note(text + "; the first, whose arithmetic isn't known, counts")
	case before.arithmetic != now.arithmetic:
		x.Follower.Note(fmt.Sprintf("%s, whose arithmetic differs, %s and %s; the first counts", text, before.arithmetic, now.arithmetic))
	default:
		x.differ++
		x.Follower.Warn(fmt.Sprintf("%s, although both compute in arithmetic %s: one of them is broken; the first counts", text, now.arithmetic))
	}
}

// runByID returns the run with an id, or nil. The first call reads all runs, and another one does if a run was moved.
// Runs that were begun since are out, or have ended in this call of Direct.
func (x *direction) runByID(id string) (*runs.Info, error) {
	if x.byID != nil && x.byID[id] == "" {
		return nil, nil
	}
	if i := x.indexed(id); i != nil {
		return i, nil
	}
	all, err := runs.List(x.store.Runs())
	if err != nil {
		return nil, err
	}
	x.byID = map[string]string{}
	for _, i := range all {
		if i.Record != nil {
			x.byID[i.Record.ID] = i.Dir
		}
	}
	return x.indexed(id), nil
}

// indexed returns the run with an id if it is where it was.
func (x *direction) indexed(id string) *runs.Info {
	if i, err := runs.Open(x.byID[id]); err == nil && i.Record != nil && i.Record.ID == id {
		return &i
	}
	return nil
}

// endIn reads what a run in a folder came to.
func endIn(i runs.Info) (end, error) {
	d := remote.Delivery{Machine: i.Record.Machine}
	for _, m := range i.Record.Moments {
		if a, ok := strings.CutPrefix(m.What, arithmeticNote); ok {
			d.Arithmetic = a
		}
		if why, ok := strings.CutPrefix(m.What, failureNote); ok && i.Stage == runs.Failed {
			d.Failure = why
		}
	}
	if i.Stage == runs.Failed {
		return endOf(d), nil
	}
	if i.Score == nil || i.LearningRate == nil {
		return end{}, fmt.Errorf("%s: no score or no learning rate; bring back the whole folder of the run", i.Dir)
	}
	d.Score, d.LearningRate, d.TunedLearningRate = report.ScoreOf(i.Score.Metric, i.Score.Value), *i.LearningRate, i.TunedLearningRate
	var errFiles, errPrivate error
	d.Released, errFiles = remote.ReadFiles(filepath.Join(i.Dir, "released"))
	d.Private, errPrivate = os.ReadFile(filepath.Join(i.Dir, "private", "run.json"))
	return endOf(d), errors.Join(errFiles, errPrivate)
}
