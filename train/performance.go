package train

import "fmt"

// mostWorkers is far above the cores of any machine; a larger number is a mistake that would cost memory.
const mostWorkers = 1024

// Performance holds the settings that decide how fast a result comes and never which: no privacy event
// and no bit of a model depends on them.
type Performance struct {
	// Workers is the number of cores to use; 0 means all.
	Workers int `json:"workers" yaml:"workers"`
}

// Validate returns a [*SettingError] for the first setting that can't be used.
func (p Performance) Validate() error {
	if p.Workers < 0 || p.Workers > mostWorkers {
		return &SettingError{"workers", p.Workers, fmt.Sprintf("a whole number, 0 to %d", mostWorkers)}
	}
	return nil
}
