package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Store keeps what a later process needs to go on with runs. All of it is private. Names consist of lower-case letters,
// digits and "-".
type Store interface {
	// Save replaces what is kept under a name. Whenever the process or the machine dies, either the old or the new
	// content is there afterwards, whole.
	Save(name string, content []byte) error
	// Load returns what is kept under a name, or nil for nothing.
	Load(name string) ([]byte, error)
	// Remove removes what is kept under a name, if there is anything.
	Remove(name string) error
}

// Keeper keeps the states of runs that train, so that runs of another process go on from them, and scores learning
// curves. Its zero value does neither. It changes no result.
type Keeper struct {
	Store Store         // nil keeps nothing
	Every time.Duration // between two saves of a run that trains; 0 means a minute
	// Spacing, unless it is zero, makes a learning curve of scores on Curve, a public test set.
	Spacing Spacing
	Curve   Labelled
}

// PrivateTrace is what no guarantee covers of a run that trained: its time. Its learning curve is beside it.
type PrivateTrace struct {
	// Seconds is the run's share of the time in which its group trained: by expected gradients, so that the shares of
	// runs side by side add up to that time.
	Seconds float64 `json:"seconds"`
	// Released is the curve that [Keeper].Spacing asks for, nil for none. It isn't private.
	Released []Point `json:"-"`
}

// Check keeps the fingerprint of a run that begins, by [Loaded.Fingerprint] and whatever else decides its course. If
// the run has begun before, Check compares the kept one: the error names what differs, and wraps [ErrOtherRun].
func (k Keeper) Check(fingerprint map[string]string) error {
	if k.Store == nil {
		return nil
	}
	kept, err := k.Store.Load("fingerprint")
	if err != nil {
		return err
	}
	if kept == nil {
		text, err := json.Marshal(fingerprint)
		if err != nil {
			return err
		}
		return k.Store.Save("fingerprint", text)
	}
	var before map[string]string
	if err := json.Unmarshal(kept, &before); err != nil {
		return fmt.Errorf("%w: its fingerprint: %w", ErrState, err)
	}
	for _, what := range slices.Sorted(maps.Keys(fingerprint)) {
		if before[what] != fingerprint[what] {
			return &ChangedError{What: what, Before: before[what], Now: fingerprint[what]}
		}
	}
	return nil
}

// ChangedError reports that something changed since a run began, which therefore can't go on. It wraps [ErrOtherRun].
type ChangedError struct {
	What, Before, Now string // Before and Now are private hashes, but for the engine
}

func (e *ChangedError) Error() string {
	if e.What == "engine" {
		return fmt.Sprintf("the run began with engine arithmetic %q, and this is %q: go on where it began", e.Before, e.Now)
	}
	return fmt.Sprintf("the %s changed since the run began: go on with the same", e.What)
}

func (e *ChangedError) Unwrap() error { return ErrOtherRun }

// KeepError reports that a run's state can't be saved or restored. It is no fault of the run.
type KeepError struct {
	Run   int    // its number among the runs that train side by side, from 0
	Trial uint32 // its [Settings.Trial]
	Err   error
}

func (e *KeepError) Error() string { return fmt.Sprintf("state of run %d: %v", e.Trial, e.Err) }
func (e *KeepError) Unwrap() error { return e.Err }

// State returns the state that is kept of the run with a number, or nil for none.
func (k Keeper) State(trial uint32) (*State, error) {
	if k.Store == nil {
		return nil, nil
	}
	kept, err := k.Store.Load(stateName(trial))
	if err != nil || kept == nil {
		return nil, err
	}
	s := new(State)
	return s, s.UnmarshalBinary(kept)
}

// trace returns the trace that is kept of the run with a number. A missing or damaged one is empty: it decides nothing.
func (k Keeper) trace(trial uint32) PrivateTrace {
	var trace PrivateTrace
	if k.Store == nil {
		return trace
	}
	kept, err := k.Store.Load(traceName(trial))
	if err != nil || json.Unmarshal(kept, &trace) != nil {
		return PrivateTrace{}
	}
	return trace
}

// curve returns the points that are kept of a learning curve. Missing or damaged points are none: they decide nothing.
func (k Keeper) curve(trial uint32) (points []Point) {
	if k.Store == nil {
		return nil
	}
	kept, err := k.Store.Load(curveName(trial))
	if err != nil || json.Unmarshal(kept, &points) != nil {
		return nil
	}
	return points
}

// Forget removes what a keeper's store has of the runs with the given numbers.
func (k Keeper) Forget(trials ...uint32) error {
	if k.Store == nil {
		return nil
	}
	var failed error
	for _, trial := range trials {
		failed = errors.Join(failed, k.Store.Remove(stateName(trial)), k.Store.Remove(traceName(trial)), k.Store.Remove(curveName(trial)))
	}
	return failed
}

func stateName(trial uint32) string { return fmt.Sprintf("state-%d", trial) }
func curveName(trial uint32) string { return fmt.Sprintf("curve-%d", trial) }
func traceName(trial uint32) string { return fmt.Sprintf("trace-%d", trial) }
