package configs

import (
	"errors"
	"fmt"
	"strings"
)

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

// layer puts settings over those that are there.
type layer func(*Experiment) error

// Resolve puts a settings file and then the overrides over the preset that they name, or over that of the data set that
// they name, or of [Default], and returns the valid result. Whoever names files of their own names the
// data set [Files].
//
// Some settings exclude each other, and of those a layer's choice replaces the choice of a weaker one: a preset and a
// data set of another name; epsilon and noise multiplier, unless privacy.fixed is noise; batch sizes and sampling rates to
// tune; GPUs and the CPU, which drops the devices.
func Resolve(file File, overrides []Override) (Experiment, error) {
	layers := []layer{
		func(e *Experiment) error {
			err := e.decode(file.Text)
			if err != nil && file.Name != "" {
				err = fmt.Errorf("%s: %w", file.Name, err)
			}
			return err
		},
		func(e *Experiment) error {
			for _, o := range overrides {
				if err := e.set(o.Key, o.Value); err != nil {
					return err
				}
			}
			return nil
		},
	}
	e, err := presetOf(layers)
	if err != nil {
		return Experiment{}, err
	}
	preset, dataset := e.Preset, e.Dataset
	for _, layer := range layers {
		if err := e.applyLayer(layer); err != nil {
			return Experiment{}, err
		}
	}
	e.Preset, e.Dataset = preset, dataset
	return e, e.Validate()
}

// presetOf returns the preset that the strongest of the layers that say anything about it chooses.
func presetOf(layers []layer) (Experiment, error) {
	preset := Default
	for _, layer := range layers {
		var named Experiment
		if err := layer(&named); err != nil {
			return Experiment{}, err
		}
		switch {
		case named.Preset == "" && named.Dataset != "":
			if dataset, _, _ := layersOf(preset); dataset == named.Dataset {
				break // it is what the weaker layer's preset is for
			}
			preset = named.Dataset
			if _, over, ok := layersOf(preset); !ok || over != nil {
				return Experiment{}, &UnknownDatasetError{Name: preset}
			}
		case named.Preset == "" && named.Data.given():
			if dataset, _, _ := layersOf(preset); dataset != Files {
				preset = Files
			}
		case named.Preset != "":
			preset = named.Preset
			dataset, _, ok := layersOf(preset)
			if ok && named.Dataset != "" && named.Dataset != dataset {
				return Experiment{}, fmt.Errorf("preset %s is for data set %s, not %s; give one of the two", preset, dataset, named.Dataset)
			}
		}
	}
	return Preset(preset)
}

var errBothGiven = errors.New("epsilon and noise_multiplier are both given; one follows from the other, give one, or privacy.fixed=noise, and the epochs follow")

// applyLayer makes a layer's choice between settings that exclude each other replace the choice below it.
func (e *Experiment) applyLayer(layer layer) error {
	below := *e
	e.Performance.Devices = nil
	e.Privacy.Epsilon, e.Privacy.NoiseMultiplier = nil, nil
	e.Tuning.BatchSizes, e.Tuning.SamplingRates = []int{}, []float64{}
	if err := layer(e); err != nil {
		return err
	}
	if err := e.Privacy.inheritBudget(below.Privacy); err != nil {
		return err
	}
	e.Tuning.inheritBatches(below.Tuning)
	if p := &e.Performance; p.Devices == nil {
		p.Devices = below.Performance.Devices
		if p.Engine == EngineCPU && below.Performance.Engine != EngineCPU {
			p.Devices = []int{}
		}
	}
	return nil
}

// inheritBudget takes from a weaker layer what this one doesn't say about epsilon and noise.
func (p *Privacy) inheritBudget(below Privacy) error {
	switch neither := p.Epsilon == nil && p.NoiseMultiplier == nil; {
	case p.Fixed == FixedNoise || neither:
		if p.Epsilon == nil {
			p.Epsilon = below.Epsilon
		}
		if p.NoiseMultiplier == nil {
			p.NoiseMultiplier = below.NoiseMultiplier
		}
	case p.Epsilon != nil && p.NoiseMultiplier != nil:
		return fmt.Errorf("privacy: %w", errBothGiven)
	}
	return nil
}

// inheritBatches takes both lists from a weaker layer unless this one has values in one of them.
func (t *Tuning) inheritBatches(below Tuning) {
	if len(t.BatchSizes) == 0 && len(t.SamplingRates) == 0 {
		t.BatchSizes, t.SamplingRates = below.BatchSizes, below.SamplingRates
	}
}
