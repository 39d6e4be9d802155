package ledger

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/dptrain/dptrain/internal/sketch"
)

// Data identifies a data set. Make it by [Named] or [OfFile].
type Data struct {
	Name   string         `json:"name"`             // of the data set, or of the file
	Rows   int            `json:"rows"`             // number of training rows
	Sketch *sketch.Sketch `json:"sketch,omitempty"` // of a person's own file; nil for a set known by its name
}

// Named returns a data set that is known by its name, such as mnist.
func Named(name string, rows int) Data {
	return Data{Name: strings.ToValidUTF8(name, "\ufffd"), Rows: rows}
}

// OfFile returns a person's own file of rows. Its name is for people; only the sketch of its content decides what
// counts as the same data.
func OfFile(name string, rows int, s sketch.Sketch) Data {
	d := Named(name, rows)
	d.Sketch = &s
	return d
}

// shared is the minimum share of the smaller file's rows for two files to count as one data set. A sketch estimates the
// share. The limit is half of the promised 5 %, so that an unlucky sketch still finds them.
const shared = 0.025

// overlaps reports whether d and o count as one data set.
func (d Data) overlaps(o Data) bool {
	if d.Sketch == nil || o.Sketch == nil {
		return d.Sketch == nil && o.Sketch == nil && d.Name == o.Name
	}
	return d.Sketch.Equal(*o.Sketch) || d.Sketch.Share(*o.Sketch) >= shared
}

// equal reports whether d and o are the same value.
func (d Data) equal(o Data) bool {
	return d.Name == o.Name && d.Rows == o.Rows && d.sameContent(o)
}

func (d Data) sameContent(o Data) bool {
	if d.Sketch == nil || o.Sketch == nil {
		return d.Sketch == nil && o.Sketch == nil && d.Name == o.Name
	}
	return d.Sketch.Equal(*o.Sketch)
}

func (d Data) check() error {
	switch {
	case d.Name == "":
		return errors.New("a data set has no name")
	case d.Rows < 0:
		return fmt.Errorf("data set %q has %d rows", d.Name, d.Rows)
	}
	return nil
}

// printable replaces the characters of a name that could control a terminal.
func printable(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, name)
}

// connected returns, for each of all, whether it counts as one data set with from, directly or by a chain of others.
func connected(all []Data, from ...Data) []bool {
	in := make([]bool, len(all))
	for queue := from; len(queue) > 0; queue = queue[1:] {
		for i, d := range all {
			if !in[i] && d.overlaps(queue[0]) {
				in[i] = true
				queue = append(queue, d)
			}
		}
	}
	return in
}
