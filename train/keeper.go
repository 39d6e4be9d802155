package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Store keeps the content that a later process needs to go on with runs. All of it is private. Names consist of
// lower-case letters, digits and "-".
type Store interface {
	// Save replaces the content under a name. If the process or the machine dies at any time, either the whole old or
	// the whole new content remains.
	Save(name string, content []byte) error
	// Load returns the content under a name, or nil if there is none.
	Load(name string) ([]byte, error)
	// Remove removes the content under a name, if there is any.
	Remove(name string) error
}

// Keeper saves the states of runs that train, so that runs of another process can go on from them, and scores learning
// curves. Its zero value does neither. It changes no result.
type Keeper struct {
	Store Store         // nil keeps nothing
	Every time.Duration // between two saves of a training run; 0 means a minute
	// Spacing, unless it is zero, makes a learning curve of scores on Curve, a public test set.
	Spacing Spacing
	Curve   Labelled
}

// PrivateTrace has a trained run's time, which no guarantee covers, and beside it the run's learning curve.
type PrivateTrace struct {
	// Seconds is the run's share of its group's training time. Shares are by expected gradients, so the shares of runs
	// side by side add up to that time.
	Seconds float64 `json:"seconds"`
	// Released is the curve that [Keeper].Spacing asks for, nil for none. It isn't private.
	Released []Point `json:"-"`
}

// Check saves the fingerprint of a new run: [Loaded.Fingerprint] and whatever else decides its course. If the run has
// begun before, Check compares it with the saved fingerprint: the error names what differs, and wraps [ErrOtherRun].
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

// ChangedError reports a change since a run began, because of which the run can't go on. It wraps [ErrOtherRun].
type ChangedError struct {
	What, Before, Now string // Before and Now are private hashes, except for the engine
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

// State returns the saved state of the run of a trial, or nil for none.
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

// kept reads what is saved under a name, unless it is missing or damaged: it decides nothing.
func kept[T any](k Keeper, name string) (out T) {
	var none T
	if k.Store == nil {
		return none
	}
	text, err := k.Store.Load(name)
	if err != nil || json.Unmarshal(text, &out) != nil {
		return none
	}
	return out
}

// Forget removes all that a keeper's store has of the runs of the given trials.
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
