package page

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/cmd/internal/runs"
	"github.com/dptrain/dptrain/train"
)

const manifestVersion = 1

// readManifest reads a run's public run.json, of which every field may be missing.
func readManifest(top *os.Root) (*runs.Manifest, error) {
	var m runs.Manifest
	found, err := readJSON(top, "run.json", &m)
	if err != nil || !found {
		return nil, err
	}
	if m.Version != manifestVersion {
		return nil, fmt.Errorf("%w: %s/run.json has version %d, and this dptrain reads version %d; use the one that made it",
			ErrNoRun, top.Name(), m.Version, manifestVersion)
	}
	if m.Stage != "" && m.Stage != runs.Finished {
		return nil, fmt.Errorf("%w: the run in %s is %s; give the folder of a finished run", ErrNoRun, top.Name(), m.Stage)
	}
	return &m, nil
}

// manifestScore returns the score that a manifest has, if it is of a metric that is known.
func manifestScore(m *runs.Manifest) *release.Score {
	if m.Score == nil {
		return nil
	}
	for _, metric := range []train.Metric{train.Accuracy, train.R2} {
		if m.Score.Metric == string(metric) {
			return &release.Score{Metric: metric, Value: m.Score.Value}
		}
	}
	return nil
}

// madeBy returns the texts and numbers of MadeBy, by name.
func madeBy(m *runs.Manifest) release.Facts {
	members, ok := m.MadeBy.(map[string]any)
	if !ok {
		members = map[string]any{"program": m.MadeBy}
	}
	var facts release.Facts
	for name, value := range members {
		switch value.(type) {
		case string, float64, bool:
			facts.Add(name, shortened(fmt.Sprint(value), maxName))
		}
	}
	slices.SortFunc(facts, func(a, b release.Fact) int { return strings.Compare(a.Label(), b.Label()) })
	return facts
}
