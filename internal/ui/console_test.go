package ui

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sirupsen/logrus"
)

// clock is a hand-driven time.
type clock struct{ t time.Time }

func (c *clock) now() time.Time { return c.t }

func console(terminal bool, level logrus.Level) (*Console, *bytes.Buffer, *clock) {
	var out bytes.Buffer
	c := New(&out, terminal, level)
	clk := &clock{time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)}
	c.now = clk.now
	return c, &out, clk
}

func TestProgressWithoutTerminalIsALineNowAndThen(t *testing.T) {
	c, out, clk := console(false, logrus.InfoLevel)
	for second := range 41 {
		c.Progress(float64(second), 40, "training")
		clk.t = clk.t.Add(time.Second)
	}
	c.EndProgress()
	want := "25 %, training, 30s left\n50 %, training, 20s left\n75 %, training, 10s left\n100 %, training, 0s left\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// What begins after something else has its own time left: that of the first has nothing to do with it.
func TestTimeLeftOfASecondTask(t *testing.T) {
	c, out, clk := console(false, logrus.InfoLevel)
	show := func(from, to, step int, what string) {
		for done := from; done <= to; done += step {
			c.Progress(float64(done), 100, what)
			clk.t = clk.t.Add(5 * time.Second)
		}
	}
	show(0, 100, 1, "slow")
	out.Reset()
	show(10, 100, 10, "fast")
	want := "20 %, fast, 40s left\n40 %, fast, 30s left\n60 %, fast, 20s left\n80 %, fast, 10s left\n100 %, fast, 0s left\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestBarOnlyOnATerminal(t *testing.T) {
	for _, terminal := range []bool{false, true} {
		c, out, clk := console(terminal, logrus.InfoLevel)
		c.Progress(1, 4, "training")
		clk.t = clk.t.Add(2 * time.Second)
		c.Progress(2, 4, "training")
		if drawn := strings.Contains(out.String(), "\r"); drawn != terminal {
			t.Errorf("terminal %t: wrote %q", terminal, out)
		}
		if terminal && !strings.Contains(out.String(), "training") {
			t.Errorf("no description in %q", out)
		}
		c.EndProgress()
		if terminal && strings.Contains(out.String(), "\n") {
			t.Errorf("the bar isn't cleared: %q", out)
		}
	}
}

func TestQuietHasNoProgress(t *testing.T) {
	for _, terminal := range []bool{false, true} {
		c, out, clk := console(terminal, logrus.WarnLevel)
		c.Progress(1, 4, "training")
		clk.t = clk.t.Add(time.Minute)
		c.Progress(2, 4, "training")
		c.Log().Warn("odd")
		if got := out.String(); got != "warning: odd\n" {
			t.Errorf("terminal %t: wrote %q", terminal, got)
		}
	}
}

func TestOnlyThePrivateLogHasEveryLevel(t *testing.T) {
	c, out, _ := console(false, logrus.InfoLevel)
	var private bytes.Buffer
	c.LogTo(&private)
	c.Log().Debug("trial 1 scored 0.5")
	c.Log().Info("final run")
	c.LogTo(nil)
	c.Log().Warn("late")
	if got := out.String(); got != "final run\nwarning: late\n" {
		t.Errorf("console: %q", got)
	}
	if got := private.String(); !strings.Contains(got, " debug: trial 1 scored 0.5\n") || strings.Contains(got, "late") {
		t.Errorf("private log: %q", got)
	}
}

// How long work has taken is all that a log gets where its share is private.
func TestWorkingTellsTheTimeAlone(t *testing.T) {
	c, out, clk := console(false, logrus.InfoLevel)
	for range 26 {
		c.Working("training")
		clk.t = clk.t.Add(time.Second)
	}
	c.EndProgress()
	if diff := cmp.Diff("training, for 10s now\ntraining, for 20s now\n", out.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A terminal is watched, and so is level debug, which has to be asked for.
func TestWatched(t *testing.T) {
	for _, c := range []struct {
		terminal bool
		level    logrus.Level
		want     bool
	}{{true, logrus.WarnLevel, true}, {true, logrus.InfoLevel, true}, {false, logrus.InfoLevel, false}, {false, logrus.DebugLevel, true}} {
		if got := New(io.Discard, c.terminal, c.level).Watched(); got != c.want {
			t.Errorf("terminal %t, %v: %t", c.terminal, c.level, got)
		}
	}
}
