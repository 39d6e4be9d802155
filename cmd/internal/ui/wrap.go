package ui

import (
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

// Columns lays out lines whose cells, except the last of each, end with tabs, like package tabwriter. If width isn't 0,
// lines are wrapped: within the last column if there is room for it; otherwise the second of two columns goes below the
// first, and more columns break between cells.
func Columns(text string, width int) string {
	var laid, wrapped strings.Builder // which take all
	columns := tabwriter.NewWriter(&laid, 0, 0, len(between), ' ', 0)
	_, _ = io.WriteString(columns, text)
	_ = columns.Flush()
	if width <= 0 {
		return laid.String()
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range strings.Split(strings.TrimSuffix(laid.String(), "\n"), "\n") {
		last := lines[i][strings.LastIndexByte(lines[i], '\t')+1:]
		indent := utf8.RuneCountInString(line) - utf8.RuneCountInString(last)
		gap := " "
		if width-indent < narrowest {
			indent = 4
			if strings.Count(lines[i], "\t") > 1 {
				gap = between
			}
		}
		wrapped.WriteString(wrap(line, gap, width, indent) + "\n")
	}
	return wrapped.String()
}

const (
	// between separates two cells.
	between = "  "
	// narrowest is the minimum width for wrapping within a last column.
	narrowest = 20
)
