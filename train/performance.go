package train

// Performance holds the settings that decide how fast a result comes and never which: no privacy event
// and no bit of a model depends on them.
type Performance struct {
	// Workers is the number of cores to use; 0 means all.
	Workers int `json:"workers" yaml:"workers"`
}

// Validate returns a [*SettingError] for the first setting that can't be used.
func (p Performance) Validate() error {
	if p.Workers < 0 {
		return &SettingError{"workers", p.Workers, "a whole number, 0 or above"}
	}
	return nil
}
