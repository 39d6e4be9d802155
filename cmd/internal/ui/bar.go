package ui

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/sirupsen/logrus"
)

// usual is the width of a terminal that doesn't report its own.
const usual = 80

// blank goes to the beginning of the line and erases it.
const blank = "\r\x1b[K"

// drawing reports whether progress is a line that is overwritten.
func (c *Console) drawing() bool { return c.screen.bar() && c.level >= logrus.InfoLevel }

// draw shows a line of progress in place of the previous one. It leaves the last column free: after it the cursor would
// be on the next line, and each drawn line would stay on the screen.
func (c *Console) draw(now time.Time, text string) {
	if c.line != "" && now.Sub(c.drawn) < redraw {
		return
	}
	c.line, c.drawn = text, now
	c.restore()
}

// restore draws the line of progress again, at the terminal's present width.
func (c *Console) restore() {
	if c.line == "" {
		return
	}
	width := cmp.Or(c.screen.Width(), usual)
	_, _ = io.WriteString(c.out, blank+cutOff(c.line, width-1)) // progress that can't be shown is no failure
}

// erase removes the line of progress.
func (c *Console) erase() {
	if c.line != "" {
		_, _ = io.WriteString(c.out, blank)
	}
}

// barText returns a line of progress for a terminal of the given width, or of the usual one if it is 0. The changing
// parts come first, since the end may be cut off.
func barText(share float64, left, what string, width int) string {
	width = cmp.Or(width, usual)
	const widest = 20
	cells := min(widest, width/4)
	full := int(math.Round(share * float64(cells)))
	text := fmt.Sprintf("%3.0f %% %s%s ", math.Floor(100*share), strings.Repeat("█", full), strings.Repeat("░", cells-full))
	if left != "" {
		text += left + ", "
	}
	return text + what
}
