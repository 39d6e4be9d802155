package ui

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/sirupsen/logrus"
)

// clock is a hand-driven time.
type clock struct{ t time.Time }

func (c *clock) now() time.Time { return c.t }

func console(terminal bool, level logrus.Level) (*Console, *bytes.Buffer, *clock) {
	var out bytes.Buffer
	c := NewOn(&out, Screen{Terminal: terminal}, level)
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

// A second task has its own time left, independent of the first task's.
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

// If the share of work done is private, a log gets only the work's duration.
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

// Where standard error has private facts: on a terminal, and with --verbose everywhere.
func TestPrivateFacts(t *testing.T) {
	for c, want := range map[*Console]bool{
		NewOn(io.Discard, Screen{}, logrus.DebugLevel): true, NewOn(io.Discard, Screen{Terminal: true}, logrus.WarnLevel): true, NewOn(io.Discard, Screen{}, logrus.InfoLevel): false,
	} {
		if got := c.ShowsPrivate(); got != want {
			t.Errorf("level %v: %t", c.level, got)
		}
	}
}

// terminal returns a console on a terminal with *columns columns.
func terminal(columns *int) (*Console, *bytes.Buffer, *clock) {
	var out bytes.Buffer
	c := NewOn(&out, Screen{Terminal: true, Columns: func() int { return *columns }}, logrus.InfoLevel)
	clk := &clock{time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)}
	c.now = clk.now
	return c, &out, clk
}

// A drawing is narrower than the terminal, also after changes of its width: a wider one would scroll each time.
func TestProgressIsAsWideAsTheTerminal(t *testing.T) {
	columns := 0
	c, out, clk := terminal(&columns)
	for width := 1; width < 130; width++ {
		columns = width
		for _, show := range []func(){
			func() {
				c.Progress(float64(width), 200, "tuning, trials done: 12, epsilon 3.9999, as described at some length")
			},
			func() { c.Working("training, epsilon 3.9999, and so on until no terminal is wide enough for it") },
		} {
			out.Reset()
			clk.t = clk.t.Add(time.Second)
			show()
			drawn, ok := strings.CutPrefix(out.String(), "\r\x1b[K")
			if !ok || utf8.RuneCountInString(drawn) > width-1 || strings.Contains(drawn, "\n") {
				t.Fatalf("%d columns: %q", width, out)
			}
		}
	}
}

// A log line appears above the progress, which is drawn again at once.
func TestLogLinesStandAboveProgress(t *testing.T) {
	columns := 30
	c, out, _ := terminal(&columns)
	c.Progress(1, 4, "training")
	out.Reset()
	c.Log().Warn("a line that is too long for the terminal")
	const want = "\r\x1b[Kwarning: a line that is too\n    long for the terminal\n\r\x1b[K 25 % ██░░░░░ training"
	if got := out.String(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	c.EndProgress()
	out.Reset()
	c.Log().Info("done")
	if got := out.String(); got != "done\n" {
		t.Errorf("after the end %q", got)
	}
}

// A terminal that can't overwrite a line gets lines.
func TestDumbTerminal(t *testing.T) {
	var out bytes.Buffer
	c := NewOn(&out, Screen{Terminal: true, Dumb: true}, logrus.InfoLevel)
	clk := &clock{time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)}
	c.now = clk.now
	for second := range 11 {
		c.Progress(float64(second), 20, "R²")
		clk.t = clk.t.Add(time.Second)
	}
	c.EndProgress()
	if got := out.String(); got != "50 %, R², 10s left\n" || !c.ShowsPrivate() {
		t.Errorf("%q", got)
	}
}

// Long waits are shown, after two seconds on a terminal and every ten elsewhere, unless there is progress.
func TestWaiting(t *testing.T) {
	columns := 60
	drawn, shown, clk := terminal(&columns)
	plain, lines, clk2 := console(false, logrus.InfoLevel)
	quiet, none, clk3 := console(true, logrus.WarnLevel)
	for second := range 22 {
		for _, c := range []*Console{drawn, plain, quiet} {
			c.Waiting("accounting")
		}
		if second < 2 && shown.Len() > 0 {
			t.Errorf("after %d s it shows %q", second, shown)
		}
		clk.t, clk2.t, clk3.t = clk.t.Add(time.Second), clk2.t.Add(time.Second), clk3.t.Add(time.Second)
	}
	if got := shown.String(); !strings.HasPrefix(got, "\r\x1b[Kaccounting, for 2s now\r\x1b[Kaccounting, for 3s now\r") {
		t.Errorf("a terminal shows %q", got)
	}
	if got := lines.String(); got != "accounting, for 10s now\naccounting, for 20s now\n" || none.Len() > 0 {
		t.Errorf("elsewhere %q, and %q with --quiet", got, none)
	}
	for _, c := range []*Console{drawn, plain} {
		c.EndProgress()
	}
	shown.Reset()
	lines.Reset()
	drawn.Progress(1, 4, "loading")
	plain.Progress(1, 4, "loading")
	clk.t, clk2.t = clk.t.Add(time.Hour), clk2.t.Add(time.Hour)
	drawn.Waiting("reading")
	plain.Waiting("reading")
	if strings.Contains(shown.String()+lines.String(), "reading") {
		t.Errorf("beside progress %q, %q", shown, lines)
	}
	plain.EndProgress()
	plain.Waiting("later") // has its own time
	if lines.Len() > 0 {
		t.Errorf("%q at once", lines)
	}
}
