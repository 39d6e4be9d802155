package term

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/dptrain/dptrain/cmd/internal/ui"
	"github.com/dptrain/dptrain/tuner"
)

// A log that others read gets nothing that changes with the number of trials: neither counts, nor shares, nor phases,
// nor a line for each trial that failed. A console that is watched gets all of it, and so does the private log.
func TestTrialsAreShownToThoseWhoWatch(t *testing.T) {
	course := func(watched bool, trials int) (shown, private string) {
		synctest.Test(t, func(t *testing.T) {
			var out, log bytes.Buffer
			level := logrus.InfoLevel
			if watched {
				level = logrus.DebugLevel
			}
			f := &Follower{Console: ui.NewOn(&out, ui.Screen{}, level), Epsilon: 4}
			f.Console.LogTo(&log)
			const steps = 40
			total := float64(steps + 5*trials)
			for i := range steps {
				p := tuner.PrivateProgress{Kind: tuner.Stepped, Trials: trials, Trial: 1, Done: float64(i) / steps * total, Total: total}
				p.TrialsDone = min(trials, i)
				p.Final = i > trials
				if i < trials {
					p.Kind, p.Err = tuner.Finished, errors.New("no memory")
				}
				f.showTuning(p)
				time.Sleep(time.Second)
			}
			shown, private = out.String(), log.String()
		})
		return shown, private
	}
	few, private := course(false, 3)
	many, _ := course(false, 11)
	if few != many || !strings.Contains(few, "training, epsilon 4, for 20s now\n") || strings.Count(few, "a trial failed") != 1 {
		t.Errorf("of 3 trials it shows\n%s\nof 11\n%s", few, many)
	}
	if strings.Count(private, "a trial failed") != 3 {
		t.Errorf("the private log has\n%s", private)
	}
	few, _ = course(true, 3)
	many, _ = course(true, 11)
	if !strings.Contains(few, "final run, trials done: 3") || strings.Count(many, "warning: a trial failed") != 11 {
		t.Errorf("a watched console shows\n%s\nand\n%s", few, many)
	}
}
