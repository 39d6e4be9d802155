package ui

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/sirupsen/logrus"
)

// Console writes log lines and progress to one writer and keeps them from overwriting each other. Its methods are safe
// for concurrent use.
type Console struct {
	log    *logrus.Logger
	screen Screen
	level  logrus.Level // of shown entries; the private log gets all
	now    func() time.Time

	mu      sync.Mutex
	out     io.Writer
	private io.Writer
	line    string    // the line of progress on the screen; "" for none
	drawn   time.Time // when it was
	waiting time.Time // the beginning of the wait for work that reports nothing
	started time.Time // of the current progress
	share   float64   // of the work, when it was last shown
	from    float64   // share at the start
	logged  time.Time // last log line
}

// NewOn returns a console on out that shows log entries up to the level, and progress as the screen can show it.
func NewOn(out io.Writer, screen Screen, level logrus.Level) *Console {
	c := &Console{log: logrus.New(), screen: screen, level: level, now: time.Now, out: out}
	c.log.SetLevel(logrus.DebugLevel)
	c.log.SetOutput(io.Discard) // the hook writes
	c.log.AddHook(hook{c})
	return c
}

// ShowsPrivate reports whether the console shows private facts, which no guarantee covers: how many private rows have
// something in common, the number of trials, which of them failed, and the share of work that is done, which gives the
// number away. Without --verbose a terminal alone does, which the person who started the command watches; other output
// is kept where others may read it, such as a scheduler's log.
//
// Scores of trials aren't among these facts: they are logged at level debug, for the private log and --verbose.
func (c *Console) ShowsPrivate() bool { return c.level >= logrus.DebugLevel || c.screen.Terminal }

// Log returns the console's logger.
func (c *Console) Log() *logrus.Logger { return c.log }

// LogTo copies log entries of every level to w, until the next call. LogTo(nil) ends the copying.
func (c *Console) LogTo(w io.Writer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.private = w
}

const (
	// every is the time between two log lines of progress.
	every = 10 * time.Second
	// patience is the time after which a terminal shows the awaited work.
	patience = 2 * time.Second
	// redraw is the time for which a line of progress stays as it is.
	redraw = 100 * time.Millisecond
)

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
	text := fmt.Sprintf("%.0f %%, %s", 100*share, what)
	left := left(share, c.from, now.Sub(c.started))
	if left != "" {
		text += ", " + left
	}
	c.show(now, barText(share, left, what, c.screen.Width()), text)
}

// Working shows a description of the current work and its duration so far. Call it instead of [Console.Progress] if the
// share of work done is private.
func (c *Console) Working(what string) {
	c.mu.Lock()
	now := c.now()
	if c.started.IsZero() {
		c.started, c.logged = now, now
	}
	c.lasting(now, c.started, what)
}

// Waiting is called from time to time while work is awaited that may report nothing by itself. It shows a description
// and the work's duration, unless that is short or progress is shown.
func (c *Console) Waiting(what string) {
	c.mu.Lock()
	now := c.now()
	switch {
	case !c.started.IsZero():
		c.mu.Unlock()
		return
	case c.waiting.IsZero():
		c.waiting, c.logged = now, now
	}
	if c.screen.bar() && now.Sub(c.waiting) < patience {
		c.mu.Unlock()
		return
	}
	c.lasting(now, c.waiting, what)
}

// lasting shows work and its duration, and unlocks the console.
func (c *Console) lasting(now, since time.Time, what string) {
	text := fmt.Sprintf("%s, for %s now", what, now.Sub(since).Round(time.Second))
	c.show(now, text, text)
}

// show shows a bar in place of the previous one where that can be done, and elsewhere logs text from time to time. It
// unlocks the console.
func (c *Console) show(now time.Time, bar, text string) {
	if c.drawing() {
		c.draw(now, bar)
		c.mu.Unlock()
		return
	}
	due := now.Sub(c.logged) >= every
	if due {
		c.logged = now
	}
	c.mu.Unlock()
	if due {
		c.log.Info(text)
	}
}

// left estimates the remaining time from the time that the work took between two shares.
func left(share, from float64, elapsed time.Duration) string {
	if share-from < 0.02 || elapsed < time.Second {
		return ""
	}
	togo := time.Duration(float64(elapsed) * (1 - share) / (share - from)).Round(time.Second)
	return fmt.Sprintf("%s left", togo)
}

// EndProgress removes progress from the terminal.
func (c *Console) EndProgress() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.started, c.waiting = time.Time{}, time.Time{}
	c.erase()
	c.line = ""
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
	h.c.erase()
	if _, err := fmt.Fprintln(h.c.out, Wrap(line(e), h.c.screen.Width(), 4)); err != nil {
		return fmt.Errorf("write log: %w", err)
	}
	h.c.restore()
	return nil
}

func line(e *logrus.Entry) string {
	text := e.Message
	if e.Level != logrus.InfoLevel {
		text = e.Level.String() + ": " + text
	}
	return text
}
