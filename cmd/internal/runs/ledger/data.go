package ledger

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/internal/show"
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
	return d.sameContent(o) || d.Sketch != nil && o.Sketch != nil && d.Sketch.Share(*o.Sketch) >= shared
}

// near reports whether d and o, which don't overlap, may be about the same people: their columns are alike, or their
// names and the numbers of rows in their files are the same. Rows is no such number where units keep some of them.
func (d Data) near(o Data) bool {
	return d.Sketch != nil && o.Sketch != nil &&
		(d.Sketch.Alike(*o.Sketch) || d.Name == o.Name && d.Sketch.Rows() == o.Sketch.Rows())
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

// connected returns those of all that count as one data set with from, directly or by a chain of others, and the rest.
func (b *book) connected(all []Data, from ...Data) (in, rest []Data) {
	found := make([]bool, len(all))
	for queue := from; len(queue) > 0; queue = queue[1:] {
		for i, d := range all {
			if !found[i] && (d.overlaps(queue[0]) || b.said(same, d, queue[0])) {
				found[i] = true
				queue = append(queue, d)
			}
		}
	}
	for i, d := range all {
		if found[i] {
			in = append(in, d)
		} else {
			rest = append(rest, d)
		}
	}
	return in, rest
}

// Decision says which recorded data a release's data are, where the ledger can't tell.
type Decision struct {
	SameAs []string // the names of recorded data about the same people
	New    bool     // all others that seem alike are about other people
}

// id identifies recorded data in decisions.
func (d Data) id() string {
	if d.Sketch == nil {
		return d.Name
	}
	return d.Sketch.ID()
}

const same, other = "same ", "other " // before ids in decisions

// said reports whether a recorded decision on two data sets is this one.
func (b *book) said(decision string, d, o Data) bool {
	return slices.ContainsFunc(b.releases, func(r Release) bool {
		return len(r.decided) > 0 && (r.Data.id() == d.id() && slices.Contains(r.decided, decision+o.id()) ||
			r.Data.id() == o.id() && slices.Contains(r.decided, decision+d.id()))
	})
}

// decide resolves a release's decision. It returns the data that it counts as the same, and those that may be the same
// and that no decision is about.
func (b *book) decide(r *Release) (known, near []Data, err error) {
	all := b.all()
	counted, rest := b.connected(all, r.Data)
	near = slices.DeleteFunc(rest, func(d Data) bool { return !r.Data.near(d) || b.said(other, r.Data, d) })
	for _, name := range r.Decision.SameAs {
		var named []Data
		for _, from := range [][]Data{near, counted, all} { // several files may have the name
			if len(named) == 0 {
				named = slices.DeleteFunc(slices.Clone(from), func(d Data) bool { return show.Printable(d.Name) != name })
			}
		}
		if len(named) == 0 {
			return nil, nil, fmt.Errorf("--same-as: the ledger has no data set %q; \"dptrain ledger\" lists those that it has", name)
		}
		known = append(known, named...)
	}
	settled, _ := b.connected(all, known...)
	near = slices.DeleteFunc(near, func(d Data) bool { return slices.ContainsFunc(settled, d.equal) })
	for _, d := range known {
		r.decided = append(r.decided, same+d.id())
	}
	if r.Decision.New {
		for _, d := range near {
			r.decided = append(r.decided, other+d.id())
		}
		near = nil
	}
	return known, near, nil
}
