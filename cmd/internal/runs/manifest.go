package runs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Stage is a run's progress.
type Stage string

// The stages, in their order. A run that is killed stays at the stage where it was.
const (
	Planned  Stage = "planned"  // nothing is trained yet
	Training Stage = "training" // the release counts as made: draws from the data have begun
	Stopped  Stage = "stopped"  // interrupted; it can be resumed
	Finished Stage = "finished"
	Failed   Stage = "failed" // it gave no model and can't go on; its budget is spent
)

// Manifest describes a run. All of it is public.
type Manifest struct {
	Version int    `json:"version"` // of this format
	Name    string `json:"name"`
	Command string `json:"command"` // tune or train
	Day     string `json:"day"`     // of the beginning, in UTC
	Stage   Stage  `json:"state"`

	Dataset   string          `json:"dataset"`
	Model     string          `json:"model"`
	Method    string          `json:"method,omitempty"` // of tuning
	Samples   int             `json:"samples"`
	Epsilon   float64         `json:"epsilon"`
	Delta     float64         `json:"delta"`
	Guarantee bool            `json:"guarantee_holds"`
	Event     json.RawMessage `json:"event,omitempty"` // as accountant.MarshalEvent writes it

	MadeBy any `json:"made_by,omitempty"`

	Test       string          `json:"test_file,omitempty"`  // the name of the public file, of own files
	Evaluation json.RawMessage `json:"evaluation,omitempty"` // a release.Evaluation, once it is finished

	Score             *Score   `json:"score,omitempty"` // once it is finished
	LearningRate      *float64 `json:"learning_rate,omitempty"`
	TunedLearningRate *float64 `json:"tuned_learning_rate,omitempty"`
}

// Score is the released model's score on the public test set.
type Score struct {
	Metric string  `json:"metric"`
	Value  float64 `json:"value"`
	// It was estimated on held-out private samples, with noise.
	HeldOut bool `json:"held_out,omitempty"`
}

// Record is the private record in a run's folder.
type Record struct {
	Version int    `json:"version"` // of this format
	ID      string `json:"id"`      // random; the ledger knows the run by it
	// A hash of settings, data, seed and program; equal keys with a seed mean equal runs.
	Key     string   `json:"key"`
	Data    string   `json:"data"`   // the name of the data for people
	Folder  string   `json:"folder"` // that relative paths in the settings refer to
	Store   string   `json:"store"`  // the folder with the ledger that has the run
	Seed    *uint64  `json:"insecure_seed,omitempty"`
	Program string   `json:"program"`           // SHA-256 of the program's file
	MadeBy  string   `json:"made_by"`           // the program, its version and commit
	Machine string   `json:"machine,omitempty"` // engine, processor and cores of the training
	Moments []Moment `json:"moments"`

	// Processors is how many were busy with its training, in the mean; 0 if that is unknown.
	Processors float64 `json:"processors,omitempty"`

	CurvePoints int `json:"curve_points,omitempty"` // of the released learning curve; 0 for none
}

// Moment is something that happened to a run.
type Moment struct {
	Time time.Time `json:"time"`
	What string    `json:"what"`
}

// formatVersion grows when readers of the previous version would misunderstand a manifest or a record.
const formatVersion = 1

// The names of files.
const (
	manifestName = "run.json"
	privateName  = "private"
	releasedName = "released"
	recordName   = "record.json"
	settingsName = "settings.yaml"
	keyName      = "key"
	stateName    = "state"
	lockName     = "lock"
	reserveName  = "reserve"
)

// ErrNoRun reports a folder that is no run's.
var ErrNoRun = errors.New("no run")

// readJSON reads a file into value and checks its version.
func readJSON(path string, value any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var says struct{ Version int }
	if err := json.Unmarshal(text, &says); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if says.Version < 1 || says.Version > formatVersion {
		return fmt.Errorf("%s: version %d, and this dptrain reads versions up to %d; use the one that wrote it", path, says.Version, formatVersion)
	}
	if err := json.Unmarshal(text, value); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// readManifest reads the manifest of the run in a folder. Its errors wrap [ErrNoRun].
func readManifest(dir string) (Manifest, error) {
	m := Manifest{MadeBy: new(json.RawMessage)} // which is written again as it is
	err := readJSON(filepath.Join(dir, manifestName), &m)
	if errors.Is(err, fs.ErrNotExist) {
		return m, fmt.Errorf("%w in %s: it has no %s", ErrNoRun, dir, manifestName)
	}
	if err != nil {
		return m, fmt.Errorf("%w in %s: %w", ErrNoRun, dir, err)
	}
	return m, nil
}
