package page

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/runs"
	"github.com/dptrain/dptrain/internal/safetensors"
)

// Run is the content of a run's public files.
type Run struct {
	Name            string // from the manifest, or else the folder's
	Model           release.Model
	Hyperparameters release.Hyperparameters
	Privacy         release.Privacy
	Void            bool           // no guarantee holds
	Score           *release.Score // nil if the files don't have it
	Parameters      int64          // number of trained numbers; 0 if unknown
	Statement       string         // STATEMENT.md; "" if it is missing
	Curve           *release.Curve // nil for none
	Files           []File         // of released/
	Manifest        *runs.Manifest // nil if it is missing

	day time.Time // modification time of privacy.json
}

// maxName is the maximum number of characters of a run's name that a page shows.
const maxName = 200

// Same reports whether the two have the same released files, byte for byte. A copy of a release costs nothing.
func (r Run) Same(other Run) bool { return slices.Equal(r.Files, other.Files) }

// Open reads a run's folder, or a copy of its folder released/. Besides released/ it reads run.json, the run's public
// manifest. An error wraps [ErrNoRun] or an [*fs.PathError].
func Open(dir string) (Run, error) {
	top, err := os.OpenRoot(dir)
	if err != nil {
		return Run{}, fmt.Errorf("%w: %w", ErrNoRun, err)
	}
	defer top.Close()
	run := Run{Name: nameOf(dir)}
	released := top
	if info, err := top.Lstat("released"); err == nil && info.IsDir() { // a link could lead to private/
		if released, err = top.OpenRoot("released"); err != nil {
			return Run{}, fmt.Errorf("%w: %w", ErrNoRun, err)
		}
		defer released.Close()
		if run.Manifest, err = readManifest(top); err != nil {
			return Run{}, err
		}
	}
	if m := run.Manifest; m != nil && m.Name != "" {
		run.Name = m.Name
	}
	run.Name = shortened(run.Name, maxName)
	return run, run.read(released, dir)
}

// nameOf returns the name of a run's folder.
func nameOf(dir string) string {
	if whole, err := filepath.Abs(dir); err == nil {
		dir = whole
	}
	if filepath.Base(dir) == "released" {
		dir = filepath.Dir(dir)
	}
	return filepath.Base(dir)
}

func (r *Run) read(released *os.Root, dir string) error {
	var guarantee struct {
		Holds *bool `json:"guarantee_holds"`
		release.Privacy
	}
	found, err := readJSON(released, "privacy.json", &guarantee)
	if err != nil {
		return err
	}
	if !found {
		return fmt.Errorf("%w in %s: it has no released/privacy.json; give the folder of a finished run", ErrNoRun, dir)
	}
	r.Privacy = guarantee.Privacy
	r.Void = r.Privacy.Insecure || guarantee.Holds != nil && !*guarantee.Holds
	if err := checkPrivacy(r.Privacy); err != nil {
		return fmt.Errorf("%w: %s/privacy.json: %w", ErrNoRun, released.Name(), err)
	}
	if info, err := released.Stat("privacy.json"); err == nil {
		r.day = info.ModTime()
	}
	if _, err := readJSON(released, "model.json", &r.Model); err != nil {
		return err
	}
	if _, err := readJSON(released, "hyperparameters.json", &r.Hyperparameters); err != nil {
		return err
	}
	statement, err := read(released, "STATEMENT.md")
	if err != nil {
		return err
	}
	r.Statement = string(statement)
	if err := r.readParameters(released); err != nil {
		return err
	}
	curve, err := read(released, release.CurveName+".csv")
	if err != nil {
		return err
	}
	if curve != nil {
		if r.Curve, err = release.ParseCurve(curve); err != nil {
			return fmt.Errorf("%w: %s/%s.csv: %w", ErrNoRun, released.Name(), release.CurveName, err)
		}
	}
	r.Files, err = list(released)
	return err
}

// checkPrivacy refuses a file that states no guarantee: a missing epsilon must not be shown as an epsilon of 0.
func checkPrivacy(p release.Privacy) error {
	switch {
	case !(p.Epsilon >= 0) || math.IsInf(p.Epsilon, 1) || p.Bound == "":
		return fmt.Errorf("it has no epsilon, or doesn't say which bound gave it")
	case !(p.Delta > 0 && p.Delta <= 1):
		return fmt.Errorf("delta %v isn't in (0, 1]", p.Delta)
	case p.Samples < 1:
		return fmt.Errorf("%d training samples; want at least 1", p.Samples)
	}
	return nil
}

// readParameters takes the score and the number of parameters from the parameters' file.
func (r *Run) readParameters(released *os.Root) error {
	const name = "model.safetensors"
	content, err := read(released, name)
	if content == nil || err != nil {
		return err
	}
	tensors, metadata, err := safetensors.Decode(content)
	if err != nil {
		return fmt.Errorf("%w: %s/%s: %w", ErrNoRun, released.Name(), name, err)
	}
	for _, t := range tensors {
		r.Parameters += int64(len(t.Data) + len(t.Ints))
	}
	r.Score = scoreOf(metadata)
	return nil
}

// scoreOf returns the score that package release writes as metadata of parameters.
func scoreOf(metadata map[string]string) *release.Score {
	for _, metric := range release.Metrics() {
		text, ok := metadata[release.Score{Metric: metric}.Key()]
		if !ok {
			text, ok = metadata[release.Score{Metric: metric, HeldOut: new([2]float64)}.Key()]
		}
		if !ok {
			continue
		}
		if v, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(v) && !math.IsInf(v, 0) {
			return &release.Score{Metric: metric, Value: v}
		}
	}
	return nil
}
