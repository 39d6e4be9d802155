package ledger

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/dptrain/dptrain/accountant"
)

// Release is one use of a data set: a run whose result is or may be seen.
type Release struct {
	Run     string // the run's id, which no other run has
	Path    string // of the run's folder
	Command string // tune or train
	Data    Data
	Event   accountant.Event // nil is possible if Void
	Epsilon float64          // of the run's own statement, at Delta
	Delta   float64
	Void    bool      // no guarantee holds: the seed is known, or there is no noise
	Began   time.Time // recorded in UTC

	// The unit of the guarantee, if not a row: the column that names each row's unit, and the maximum number of rows
	// kept of each.
	Unit        string
	RowsPerUnit int

	Version string // of the program

	Decision Decision // of the person, on data that seem alike
	decided  []string // what it comes to: same or other, and the id of recorded data
}

// checked returns r in its recorded form, or an error if it can't be recorded.
func (r Release) checked() (Release, error) {
	r.Began = r.Began.UTC().Round(0)
	if r.Run == "" {
		return r, errors.New("a release has no id of its run")
	}
	if err := r.Data.check(); err != nil {
		return r, fmt.Errorf("release of run %s: %w", r.Run, err)
	}
	if r.Void {
		// A void statement means nothing, and JSON lacks infinities.
		if math.IsNaN(r.Epsilon+r.Delta) || math.IsInf(r.Epsilon+r.Delta, 0) {
			r.Epsilon, r.Delta = 0, 0
		}
		if r.Event == nil {
			return r, nil
		}
	} else if !(r.Epsilon >= 0 && !math.IsInf(r.Epsilon, 1) && r.Delta > 0 && r.Delta < 1) {
		return r, fmt.Errorf("release of run %s: epsilon %v at delta %v; want a finite epsilon at a delta between 0 and 1, or a void release", r.Run, r.Epsilon, r.Delta)
	}
	if err := accountant.Validate(r.Event); err != nil {
		return r, fmt.Errorf("release of run %s: %w", r.Run, err)
	}
	return r, nil
}

// eventText returns the event's JSON form, by which events are compared: "" for none.
func (r Release) eventText() (string, error) {
	if r.Event == nil {
		return "", nil
	}
	text, err := accountant.MarshalEvent(r.Event)
	if err != nil {
		return "", fmt.Errorf("release of run %s: %w", r.Run, err)
	}
	return string(text), nil
}
