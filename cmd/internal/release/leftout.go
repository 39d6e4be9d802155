package release

import (
	"fmt"
	"strings"
)

// LeftOut are columns that nothing is learned from, by why that is, in a few words.
type LeftOut struct {
	why     []string // in the order of the first columns
	columns map[string][]string
	n       int
}

// Add adds a column.
func (l *LeftOut) Add(column, why string) {
	if l.columns == nil {
		l.columns = map[string][]string{}
	}
	if l.columns[why] == nil {
		l.why = append(l.why, why)
	}
	l.columns[why] = append(l.columns[why], column)
	l.n++
}

// Len returns the number of columns.
func (l *LeftOut) Len() int { return l.n }

// Text returns a text of bounded length, such as "a, b (dates), id (row numbers); 2 of 5 columns are learned from". It
// is empty if no column is left out.
func (l *LeftOut) Text(learned int) string {
	const most, mostWhy = 4, 6 // a last one is shown in place of "and 1 more"
	if l.n == 0 {
		return ""
	}
	var parts []string
	shown := 0
	for i, why := range l.why {
		if i == mostWhy && len(l.why) > mostWhy+1 {
			parts = append(parts, fmt.Sprintf("and %s more for other reasons", Grouped(l.n-shown)))
			break
		}
		names, more := l.columns[why], ""
		shown += len(names)
		if n := len(names); n > most+1 {
			names, more = names[:most], fmt.Sprintf(" and %s more", Grouped(n-most))
		}
		parts = append(parts, fmt.Sprintf("%s%s (%s)", strings.Join(names, ", "), more, why))
	}
	are := "columns are"
	if learned == 1 {
		are = "columns is"
	}
	return fmt.Sprintf("%s; %s of %s %s learned from", strings.Join(parts, ", "), Grouped(learned), Grouped(learned+l.n), are)
}
