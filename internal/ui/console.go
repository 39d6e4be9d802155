package ui

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/sirupsen/logrus"
)

// Console writes log lines and progress to one writer and keeps them from overwriting each other. Its methods are safe
// for concurrent use.
type Console struct {
	log      *logrus.Logger
	terminal bool
	level    logrus.Level // of entries that are shown; the private log gets all
	now      func() time.Time

	mu      sync.Mutex
	out     io.Writer
	private io.Writer
	bar     *progressbar.ProgressBar
	started time.Time // of the progress under way
	share   float64   // of the work, when it was last shown
	from    float64   // share at the start
	logged  time.Time // last log line
}

// New returns a console on out that shows log entries up to the level, and a bar if out is a terminal.
func New(out io.Writer, terminal bool, level logrus.Level) *Console {
	c := &Console{log: logrus.New(), terminal: terminal, level: level, now: time.Now, out: out}
	c.log.SetLevel(logrus.DebugLevel)
	c.log.SetOutput(io.Discard) // the hook writes
	c.log.AddHook(hook{c})
	return c
}

// Watched reports whether private progress may be shown: on a terminal, or at level debug. Other output, such as a
// scheduler's log, may be read by people who must not see it.
func (c *Console) Watched() bool { return c.terminal || c.level >= logrus.DebugLevel }

// Log returns the console's logger.
func (c *Console) Log() *logrus.Logger { return c.log }

// LogTo copies log entries of every level to w, until the next call. LogTo(nil) ends the copying.
func (c *Console) LogTo(w io.Writer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.private = w
}

// every is the time between two log lines of progress.
const every = 10 * time.Second

// Progress shows that done of total units of work are done. what describes the current work.
func (c *Console) Progress(done, total float64, what string) {
	c.mu.Lock()
	now := c.now()
	share := 0.0
	if total > 0 {
		share = min(1, max(0, done/total))
	}
	switch {
	case c.started.IsZero():
		c.started, c.logged, c.from = now, now, 0
	case share < c.share: // other work has begun
		c.started, c.from = now, share
	}
	c.share = share
	what += left(share, c.from, now.Sub(c.started))
	if c.terminal && c.level >= logrus.InfoLevel {
		c.show(share, what)
		c.mu.Unlock()
		return
	}
	due := now.Sub(c.logged) >= every
	if due {
		c.logged = now
	}
	c.mu.Unlock()
	if due {
		c.log.Infof("%.0f %%, %s", 100*share, what)
	}
}

// Working logs a description of the current work and its duration so far. Call it instead of [Console.Progress] if the
// share of work done is private.
func (c *Console) Working(what string) {
	c.mu.Lock()
	now := c.now()
	if c.started.IsZero() {
		c.started, c.logged = now, now
	}
	due, elapsed := now.Sub(c.logged) >= every, now.Sub(c.started)
	if due {
		c.logged = now
	}
	c.mu.Unlock()
	if due {
		c.log.Infof("%s, for %s now", what, elapsed.Round(time.Second))
	}
}

// left estimates the remaining time by the time that the work took from one share to another.
func left(share, from float64, elapsed time.Duration) string {
	if share-from < 0.02 || elapsed < time.Second {
		return ""
	}
	togo := time.Duration(float64(elapsed) * (1 - share) / (share - from)).Round(time.Second)
	return fmt.Sprintf(", %s left", togo)
}

func (c *Console) show(share float64, what string) {
	const whole = 1000
	if c.bar == nil {
		c.bar = progressbar.NewOptions(whole,
			progressbar.OptionSetWriter(c.out),
			progressbar.OptionSetWidth(20),
			progressbar.OptionSetPredictTime(false), // left() knows better than a rate of its last ten calls
			progressbar.OptionSetElapsedTime(false),
			progressbar.OptionShowDescriptionAtLineEnd(),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish(),
		)
	}
	c.bar.Describe(what)
	_ = c.bar.Set64(int64(share * (whole - 1))) // EndProgress completes it
}

// EndProgress removes the bar from the terminal.
func (c *Console) EndProgress() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.started = time.Time{}
	if c.bar != nil {
		_ = c.bar.Finish()
		c.bar = nil
	}
}

// hook sends log entries to the console and the private log.
type hook struct{ c *Console }

func (hook) Levels() []logrus.Level { return logrus.AllLevels }

func (h hook) Fire(e *logrus.Entry) error {
	h.c.mu.Lock()
	defer h.c.mu.Unlock()
	if h.c.private != nil {
		if _, err := fmt.Fprintf(h.c.private, "%s %s\n", e.Time.Format(time.RFC3339), line(e)); err != nil {
			return fmt.Errorf("write log: %w", err)
		}
	}
	if e.Level > h.c.level {
		return nil
	}
	if h.c.bar != nil {
		_ = h.c.bar.Clear()
	}
	if _, err := fmt.Fprintln(h.c.out, line(e)); err != nil {
		return fmt.Errorf("write log: %w", err)
	}
	if h.c.bar != nil {
		_ = h.c.bar.RenderBlank()
	}
	return nil
}

func line(e *logrus.Entry) string {
	text := e.Message
	if e.Level != logrus.InfoLevel {
		text = e.Level.String() + ": " + text
	}
	return text
}
