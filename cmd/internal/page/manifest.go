package page

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/train"
)

// Manifest is a run's public run.json. Every field may be missing.
type Manifest struct {
	Version int            `json:"version"`
	Name    string         `json:"name"`
	Command string         `json:"command"` // tune or train
	State   string         `json:"state"`   // planned, running, stopped, finished or failed
	Score   *ManifestScore `json:"score"`
	// Event is the run's privacy event, in the format of package accountant.
	Event  json.RawMessage `json:"event"`
	MadeBy any             `json:"made_by"`
}

// ManifestScore is the released model's score on the public test set.
type ManifestScore struct {
	Metric string  `json:"metric"`
	Value  float64 `json:"value"`
}

const manifestVersion = 1

func readManifest(top *os.Root) (*Manifest, error) {
	var m Manifest
	found, err := readJSON(top, "run.json", &m)
	if err != nil || !found {
		return nil, err
	}
	if m.Version != manifestVersion {
		return nil, fmt.Errorf("%w: %s/run.json has version %d, and this dptrain reads version %d; use the one that made it",
			ErrNoRun, top.Name(), m.Version, manifestVersion)
	}
	if m.State != "" && m.State != "finished" {
		return nil, fmt.Errorf("%w: the run in %s is %s; give the folder of a finished run", ErrNoRun, top.Name(), m.State)
	}
	return &m, nil
}

func (m *Manifest) score() *release.Score {
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

// made returns the texts and numbers of MadeBy, by name.
func (m *Manifest) made() []Fact {
	members, ok := m.MadeBy.(map[string]any)
	if !ok {
		members = map[string]any{"program": m.MadeBy}
	}
	var facts []Fact
	for name, value := range members {
		switch value.(type) {
		case string, float64, bool:
			facts = append(facts, Fact{name, shortened(fmt.Sprint(value), maxName)})
		}
	}
	slices.SortFunc(facts, func(a, b Fact) int { return strings.Compare(a.Name, b.Name) })
	return facts
}
