package ui

import (
	"bytes"
	"io"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

// Wrap breaks a line at spaces, so that each part has at most width characters, if its words allow. It indents all
// parts except the first. A width of 0 means no limit.
func Wrap(line string, width, indent int) string { return wrap(line, " ", width, indent) }

// wrap is Wrap with breaks only where there are at least as many spaces as in gap.
func wrap(line, gap string, width, indent int) string {
	if width <= 0 || utf8.RuneCountInString(line) <= width {
		return line
	}
	if indent > width/2 { // or the rest is too narrow to read
		indent = min(4, width/2)
	}
	var b strings.Builder
	margin := "\n" + strings.Repeat(" ", indent)
	used, least := 0, 0 // characters in the present part, and before its first word
	for rest := line; rest != ""; {
		spaces := len(rest) - len(strings.TrimLeft(rest, " "))
		end := spaces + len(rest[spaces:])
		if next := strings.Index(rest[spaces:], gap); next >= 0 {
			end = spaces + next
		}
		length := utf8.RuneCountInString(rest[:end])
		if used > least && used+length > width {
			b.WriteString(margin)
			b.WriteString(rest[spaces:end])
			used, least = indent+length-spaces, indent
		} else {
			b.WriteString(rest[:end])
			used += length
		}
		rest = rest[end:]
	}
	return b.String()
}

// cutOff shortens text to width characters, the last of which says so.
func cutOff(text string, width int) string {
	switch runes := []rune(text); {
	case len(runes) <= width:
		return text
	case width < 1:
		return ""
	default:
		return string(runes[:width-1]) + "…"
	}
}

// Columns lays out lines whose cells, except the last of each, end with tabs, like package tabwriter. It writes them
// when it is flushed. If width isn't 0, lines are wrapped: within the last column if there is room for it; otherwise
// the second of two columns goes below the first, and more columns break between cells.
type Columns struct {
	to    io.Writer
	width int
	text  bytes.Buffer
}

// NewColumns returns columns on w, which are wrapped to a width if it isn't 0.
func NewColumns(w io.Writer, width int) *Columns { return &Columns{to: w, width: width} }

// Write keeps text for Flush.
func (c *Columns) Write(p []byte) (int, error) { return c.text.Write(p) }

// Flush writes the lines, and drops them.
func (c *Columns) Flush() error {
	lines := strings.Split(strings.TrimSuffix(c.text.String(), "\n"), "\n")
	var laid bytes.Buffer
	columns := tabwriter.NewWriter(&laid, 0, 0, len(between), ' ', 0)
	_, _ = c.text.WriteTo(columns) // a buffer takes all
	_ = columns.Flush()
	out := laid.Bytes()
	if c.width > 0 {
		var wrapped bytes.Buffer
		for i, line := range strings.Split(strings.TrimSuffix(laid.String(), "\n"), "\n") {
			last := lines[i][strings.LastIndexByte(lines[i], '\t')+1:]
			indent := utf8.RuneCountInString(line) - utf8.RuneCountInString(last)
			gap := " "
			if c.width-indent < narrowest {
				indent = 4
				if strings.Count(lines[i], "\t") > 1 {
					gap = between
				}
			}
			wrapped.WriteString(wrap(line, gap, c.width, indent) + "\n")
		}
		out = wrapped.Bytes()
	}
	_, err := c.to.Write(out)
	return err
}

const (
	// between separates two cells.
	between = "  "
	// narrowest is the minimum width for wrapping within a last column.
	narrowest = 20
)
