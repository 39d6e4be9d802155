package page

import (
	"fmt"
	"os"

	"github.com/dptrain/dptrain/cmd/internal/runs"
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
