package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dptrain/dptrain/accountant"
	"github.com/dptrain/dptrain/internal/strict"
)

// version is the version of the file's format.
const version = 2 // 1 has no columns in sketches, and no decisions

// FileError reports a ledger that can't be read or written.
type FileError struct {
	Path    string
	Problem string // with the remedy
	Err     error  // the reason, or nil
}

func (e *FileError) Error() string {
	text := "ledger " + e.Path + ": " + e.Problem
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the reason.
func (e *FileError) Unwrap() error { return e.Err }

// book is the content of a ledger.
type book struct {
	releases []Release // the oldest record first
	budgets  []Budget
}

// all returns the different data sets.
func (b *book) all() []Data {
	var all []Data
	add := func(d Data) {
		if i := slices.IndexFunc(all, d.equal); i < 0 {
			all = append(all, d)
		} else if d.Sketch != nil && d.Sketch.Columns() > all[i].Sketch.Columns() { // the other is older
			all[i] = d
		}
	}
	for _, r := range b.releases {
		add(r.Data)
	}
	for _, s := range b.budgets {
		add(s.Data)
	}
	return all
}

// The JSON form of the file. The checksum is of the member ledger, without blanks between its tokens.
type fileJSON struct {
	Version int             `json:"version"`
	SHA256  string          `json:"sha256"`
	Ledger  json.RawMessage `json:"ledger"`
}

type bookJSON struct {
	Data     []Data        `json:"data"`
	Releases []releaseJSON `json:"releases"`
	Budgets  []budgetJSON  `json:"budgets"`
}

type releaseJSON struct {
	Run     string          `json:"run"`
	Path    string          `json:"path"`
	Command string          `json:"command"`
	Data    int             `json:"data"` // index in the list of data sets
	Event   json.RawMessage `json:"event,omitempty"`
	Epsilon float64         `json:"epsilon"`
	Delta   float64         `json:"delta"`
	Void    bool            `json:"void,omitempty"`
	Began   time.Time       `json:"began"`
	Program string          `json:"program"`
	Unit    string          `json:"unit,omitempty"`
	Rows    int             `json:"rows_per_unit,omitempty"`
	Decided []string        `json:"decided,omitempty"`
}

type budgetJSON struct {
	Data    int     `json:"data"`
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
}

// encode returns the content of the ledger's file.
func (b *book) encode() ([]byte, error) {
	out := bookJSON{Data: b.all(), Releases: []releaseJSON{}, Budgets: []budgetJSON{}}
	if out.Data == nil {
		out.Data = []Data{}
	}
	index := func(d Data) int { return slices.IndexFunc(out.Data, d.equal) }
	for _, r := range b.releases {
		event, err := r.eventText()
		if err != nil {
			return nil, err
		}
		out.Releases = append(out.Releases, releaseJSON{
			r.Run, r.Path, r.Command, index(r.Data), json.RawMessage(event), r.Epsilon, r.Delta, r.Void, r.Began, r.Version, r.Unit, r.RowsPerUnit, r.decided,
		})
	}
	for _, s := range b.budgets {
		out.Budgets = append(out.Budgets, budgetJSON{index(s.Data), s.Epsilon, s.Delta})
	}
	inner, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("encode the ledger: %w", err)
	}
	sum := sha256.Sum256(inner)
	text, err := json.MarshalIndent(fileJSON{version, hex.EncodeToString(sum[:]), inner}, "", " ")
	if err != nil {
		return nil, fmt.Errorf("encode the ledger: %w", err)
	}
	return append(text, '\n'), nil
}

var errNewer = errors.New("a newer version of dptrain wrote it; use that version, or a newer one")

// parse reads the content of a ledger's file.
func parse(text []byte) (*book, error) {
	var says struct{ Version int }
	if json.Unmarshal(text, &says) == nil && says.Version > version {
		return nil, errNewer
	}
	var file fileJSON
	if err := strict.Decode(text, &file); err != nil {
		return nil, err
	}
	if file.Version < 1 {
		return nil, fmt.Errorf("version %d", file.Version)
	}
	var inner bytes.Buffer
	if err := json.Compact(&inner, file.Ledger); err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(inner.Bytes()); hex.EncodeToString(sum[:]) != file.SHA256 {
		return nil, errors.New("its content doesn't have its checksum")
	}
	var in bookJSON
	if err := strict.Decode(inner.Bytes(), &in); err != nil {
		return nil, err
	}
	return in.book()
}

func (in bookJSON) book() (*book, error) {
	for _, d := range in.Data {
		if err := d.check(); err != nil {
			return nil, err
		}
	}
	data := func(i int) (Data, error) {
		if i < 0 || i >= len(in.Data) {
			return Data{}, fmt.Errorf("data set %d of %d", i, len(in.Data))
		}
		return in.Data[i], nil
	}
	b := &book{}
	runs := map[string]bool{}
	for _, r := range in.Releases {
		out := Release{Run: r.Run, Path: r.Path, Command: r.Command, Epsilon: r.Epsilon, Delta: r.Delta, Void: r.Void, Began: r.Began, Version: r.Program, Unit: r.Unit, RowsPerUnit: r.Rows, decided: r.Decided}
		var err error
		if out.Data, err = data(r.Data); err != nil {
			return nil, err
		}
		if len(r.Event) > 0 {
			if out.Event, err = accountant.UnmarshalEvent(r.Event); err != nil {
				return nil, fmt.Errorf("release of run %q: %w", r.Run, err)
			}
		}
		if out, err = out.checked(); err != nil {
			return nil, err
		}
		if runs[out.Run] {
			return nil, fmt.Errorf("run %q stands twice", out.Run)
		}
		runs[out.Run] = true
		b.releases = append(b.releases, out)
	}
	for _, s := range in.Budgets {
		d, err := data(s.Data)
		if err != nil {
			return nil, err
		}
		budget := Budget{d, s.Epsilon, s.Delta}
		if err := budget.check(); err != nil {
			return nil, err
		}
		b.budgets = append(b.budgets, budget)
	}
	return b, nil
}
