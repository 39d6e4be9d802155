package experiment

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/datasets/table"
	"github.com/dptrain/dptrain/internal/random"
	"github.com/dptrain/dptrain/train"
)

// A unitRun is a single training run whose unit of privacy has up to rows samples; 0 and 1 mean one sample.
type unitRun struct {
	train.Privacy
	rows int
}

func (u unitRun) event() accountant.Event {
	if u.rows > 1 {
		return accountant.GroupOf{Event: u.Privacy.Event(), Size: u.rows}
	}
	return u.Privacy.Event()
}

// Guarantee returns the run's guarantee for a unit.
func (u unitRun) Guarantee(delta float64, o accountant.Options) (accountant.Guarantee, error) {
	return accountant.Epsilon(u.event(), delta, o)
}

// calibrate returns u with the smallest noise multiplier that meets epsilon for a unit.
func (u unitRun) calibrate(epsilon, delta float64, o accountant.Options) (unitRun, accountant.Guarantee, error) {
	noise, err := accountant.CalibrateNoise(epsilon, delta, o, func(noise float64) accountant.Event {
		u.NoiseMultiplier = noise
		return u.event()
	})
	if err != nil {
		return unitRun{}, accountant.Guarantee{}, err
	}
	u.NoiseMultiplier = noise
	g, err := u.Guarantee(delta, o)
	return u, g, err
}

// unitRows are the private rows of a file whose unit of privacy is in a column: a run keeps at most most rows of each
// unit, which its key chooses. Runs of other keys share the rows that they choose from.
type unitRows struct {
	schema *table.Schema
	rows   *table.Samples
	tokens *tokenised // of their texts; nil for others
	units  *table.Units
	most   int
}

// countUnits returns the number of rows that a run keeps of a private file's n rows, and the units of all rows.
func countUnits(d settings.Data, private *table.File, n int) (kept int, u *table.Units, err error) {
	if d.Unit == "" {
		return n, nil, nil
	}
	if u, err = private.Units(d.Unit); err != nil {
		return 0, nil, err
	}
	return u.Count(d.RowsPerUnit), u, nil
}

// unitRows returns the rows that were read with their units, or nil if a row is the unit.
func (f *ownFiles) unitRows(d settings.Data, s *table.Schema, rows *table.Samples, t *tokenised) (*unitRows, error) {
	if f.units == nil {
		return nil, nil
	}
	if len(f.units.Of) != rows.N {
		return nil, inputf("%s: the number of its rows has changed; run again when nothing writes to the file", d.Train)
	}
	return &unitRows{s, rows, t, f.units, d.RowsPerUnit}, nil
}

// count returns the number of rows that a run keeps of n.
func (u *unitRows) count(n int) int {
	if u == nil {
		return n
	}
	return u.units.Count(u.most)
}

// sharedUnits returns a warning if units of the private file are also in the public file, whose rows aren't cut. The
// warning is private.
func sharedUnits(d settings.Data, private *table.Units) (warning string, err error) {
	if private == nil {
		return "", nil
	}
	file, err := table.Open(d.Test)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	public, err := file.Units(d.Unit)
	if err != nil {
		return "", nil // a public row needs no unit
	}
	shared := private.Shared(public)
	if shared == 0 {
		return "", nil
	}
	return fmt.Sprintf("%s of the units of %s (column %s) have rows in %s too: test rows are public, and the guarantee doesn't protect those; this count is private",
		release.Grouped(shared), filepath.Base(d.Train), d.Unit, filepath.Base(d.Test)), nil
}

// forKey returns the data that the run of a key trains on: all rows, or at most so many of each unit.
//
// A row's rank is an HMAC of its unit's value and its number among the unit's rows, under a key derived from the run's.
// So the choice among a unit's rows depends on the key and on that unit alone: with one unit more or less, the others
// keep the same rows.
func (l *loaded) forKey(key train.Key) (*loaded, error) {
	u := l.units
	if u == nil {
		return l, nil
	}
	var secret []byte
	stream := key.Stream(random.ID{Purpose: random.Units})
	for range 4 {
		secret = binary.LittleEndian.AppendUint64(secret, stream.Uint64())
	}
	mac := hmac.New(sha256.New, secret)
	rank := func(value string, row int) uint64 {
		mac.Reset()
		mac.Write(binary.LittleEndian.AppendUint64(nil, uint64(row)))
		mac.Write([]byte(value))
		return binary.LittleEndian.Uint64(mac.Sum(nil))
	}
	only := u.units.Keep(u.most, rank)
	kept, err := labelled(u.schema, u.rows.Only(only), u.tokens.only(only))
	if err != nil {
		return nil, fmt.Errorf("keep the rows of each unit: %w", err)
	}
	own := *l
	own.train, own.units = kept.Inputs(), nil
	return &own, nil
}

// unitNote returns a note on whose privacy a plan on own files protects.
func unitNote(d settings.Data) string {
	if d.Unit == "" {
		return "a row is the unit of privacy: a person behind several rows of the training file is protected less; --unit COLUMN protects all rows of one person together"
	}
	return fmt.Sprintf("the unit of privacy is that of column %s: all of its at most %d rows together", d.Unit, d.RowsPerUnit)
}
