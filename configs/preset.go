package configs

import (
	"embed"
	"fmt"
	"slices"
	"strings"
)

//go:embed *.yaml
var files embed.FS

// Default is the data set that is used when none is named.
const Default = "glyphs"

// Presets returns the names of the embedded presets, which are names of data sets.
func Presets() []string {
	entries, _ := files.ReadDir(".") // the embedded root always reads
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	slices.Sort(names)
	return names
}

// UnknownDatasetError says that no preset has the name.
type UnknownDatasetError struct{ Name string }

func (e *UnknownDatasetError) Error() string {
	text := fmt.Sprintf("unknown data set %q", e.Name)
	if near := Nearest(e.Name, Presets()); near != "" {
		return text + fmt.Sprintf("; did you mean %s?", near)
	}
	return text + "; there are " + strings.Join(Presets(), ", ")
}

// Preset returns the settings of the paper for a data set.
func Preset(dataset string) (Experiment, error) {
	text, err := files.ReadFile(dataset + ".yaml")
	if err != nil {
		return Experiment{}, &UnknownDatasetError{Name: dataset}
	}
	var e Experiment
	if err := e.decode(text); err != nil {
		return Experiment{}, fmt.Errorf("preset %s: %w", dataset, err)
	}
	return e, nil
}

// Override is one setting given on the command line: a dotted path and a value written as in YAML.
type Override struct{ Key, Value string }

// ParseOverride reads key=value.
func ParseOverride(text string) (Override, error) {
	key, value, ok := strings.Cut(text, "=")
	key = strings.TrimSpace(key)
	if !ok || key == "" {
		return Override{}, fmt.Errorf("setting %q: want key=value, such as privacy.epsilon=2", text)
	}
	return Override{Key: key, Value: strings.TrimSpace(value)}, nil
}

// File is a settings file. Its name serves error messages; the zero File has no settings.
type File struct {
	Name string
	Text []byte
}

// Resolve puts a settings file and then the overrides over the preset of the data set that they name,
// or of [Default], and returns the valid result.
//
// Epsilon and noise multiplier exclude each other within a layer; a layer that gives one of them
// drops the other that a weaker layer gave. In the same way the CPU excludes GPUs: a layer that chooses
// it drops the devices that a weaker layer gave.
func Resolve(file File, overrides []Override) (Experiment, error) {
	fromFile := func(e *Experiment) error {
		err := e.decode(file.Text)
		if err != nil && file.Name != "" {
			err = fmt.Errorf("%s: %w", file.Name, err)
		}
		return err
	}
	fromOverrides := func(e *Experiment) error {
		for _, o := range overrides {
			if err := e.set(o.Key, o.Value); err != nil {
				return err
			}
		}
		return nil
	}

	named := Experiment{Dataset: Default}
	for _, layer := range []func(*Experiment) error{fromFile, fromOverrides} {
		if err := layer(&named); err != nil {
			return Experiment{}, err
		}
	}
	e, err := Preset(named.Dataset)
	if err != nil {
		return Experiment{}, err
	}
	for _, layer := range []func(*Experiment) error{fromFile, fromOverrides} {
		if err := e.applyLayer(layer); err != nil {
			return Experiment{}, err
		}
	}
	return e, e.Validate()
}

// applyLayer makes a layer's choice between settings that exclude each other replace the choice below it.
func (e *Experiment) applyLayer(layer func(*Experiment) error) error {
	engine, devices := e.Performance.Engine, e.Performance.Devices
	e.Performance.Devices = nil
	epsilon, noise := e.Privacy.Epsilon, e.Privacy.NoiseMultiplier
	e.Privacy.Epsilon, e.Privacy.NoiseMultiplier = nil, nil
	if err := layer(e); err != nil {
		return err
	}
	switch p := &e.Privacy; {
	case p.Epsilon != nil && p.NoiseMultiplier != nil:
		return fmt.Errorf("privacy: epsilon and noise_multiplier are both given; one follows from the other, give one")
	case p.Epsilon == nil && p.NoiseMultiplier == nil:
		p.Epsilon, p.NoiseMultiplier = epsilon, noise
	}
	if p := &e.Performance; p.Devices == nil {
		p.Devices = devices
		if p.Engine == EngineCPU && engine != EngineCPU {
			p.Devices = []int{}
		}
	}
	return nil
}
