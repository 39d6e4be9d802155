package settings

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/dptrain/dptrain/internal/nearest"
)

// Override is one setting from the command line. Key is a dotted path, Value is written as in YAML, and From is the
// source that errors name, such as --epsilon.
type Override struct{ Key, Value, From string }

// ParseOverride parses key=value.
func ParseOverride(text string) (Override, error) {
	key, value, ok := strings.Cut(text, "=")
	key = strings.TrimSpace(key)
	if !ok || key == "" {
		return Override{}, fmt.Errorf("setting %q: want key=value, such as privacy.epsilon=2", text)
	}
	return Override{Key: key, Value: strings.TrimSpace(value)}, nil
}

// File is a settings file. Errors quote its name. The zero File has no settings.
type File struct {
	Name string
	Text []byte
}

// layer sets some settings of an experiment.
type layer func(*Experiment) error

// Resolve puts a settings file and then the overrides over a preset, and returns the valid result. If they name no
// preset, it is the preset of the data set that they name, or else of [Default]. If they set a path in data, the data
// set is [Files].
//
// Some settings exclude each other: a preset and a data set of another name; epsilon and noise multiplier, unless
// privacy.fixed is noise; batch sizes and sampling rates to tune; GPUs and the CPU engine. A later layer's choice
// replaces an earlier layer's: the CPU engine, for example, drops the GPUs of an earlier layer, and another optimizer
// drops the momentum and the weight decay of the earlier one. Overrides are one layer: two that give a setting
// different values are an error.
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
			if err := e.override(overrides...); err != nil {
				return err
			}
			return contradiction(overrides)
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
	e.Training = e.Training.filled()
	return e, e.Validate()
}

// contradiction returns an error for two valid overrides whose order matters: they give a setting, or a column of a
// block, different values.
func contradiction(overrides []Override) error {
	inside := func(o, block Override) bool { return strings.HasPrefix(o.Key+".", block.Key+".") }
	for i, first := range overrides {
		for _, second := range overrides[i+1:] {
			if !inside(first, second) && !inside(second, first) {
				continue
			}
			var one, other Experiment
			if err := errors.Join(one.override(first, second), other.override(second, first)); err != nil {
				return err
			}
			if !reflect.DeepEqual(one, other) {
				return fmt.Errorf("%s: %s gives %q and %s %q; give one of them", second.Key, first.source(), first.Value, second.source(), second.Value)
			}
		}
	}
	return nil
}

func (o Override) source() string {
	if o.From == "" {
		return "one setting"
	}
	return o.From
}

// presetOf returns the preset chosen by the strongest layer that chooses one. If a layer names a column of texts,
// that of [Files] has the settings for texts over it.
func presetOf(layers []layer) (Experiment, error) {
	preset, texts := Default, false
	for _, layer := range layers {
		var named Experiment
		if err := layer(&named); err != nil {
			return Experiment{}, err
		}
		texts = texts || named.Data.Text != ""
		switch {
		case named.Preset == "" && named.Dataset != "":
			if dataset, _, _ := layersOf(preset); dataset == named.Dataset {
				break // the weaker layer's preset is for this data set
			}
			preset = named.Dataset
			if _, over, ok := layersOf(preset); !ok || over != nil {
				return Experiment{}, Unknown("data set", preset, Datasets())
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
	e, err := Preset(preset)
	if err == nil && texts && e.Dataset == Files {
		err = e.decodeEmbedded("layers/texts.yaml")
	}
	return e, err
}

var errBothGiven = errors.New("epsilon and noise_multiplier are both given; one follows from the other, give one, or privacy.fixed=noise, and the epochs follow")

// applyLayer applies a layer. Among settings that exclude each other, the layer's choice replaces the lower layer's.
func (e *Experiment) applyLayer(layer layer) error {
	below := *e
	e.Performance.Devices = nil
	e.Privacy.Epsilon, e.Privacy.NoiseMultiplier = nil, nil
	e.Training.Momentum, e.Training.WeightDecay = nil, nil
	e.Tuning.BatchSizes, e.Tuning.SamplingRates = []int{}, []float64{}
	if err := layer(e); err != nil {
		return err
	}
	if err := e.Privacy.inheritBudget(below.Privacy); err != nil {
		return err
	}
	e.Training = e.Training.named()
	e.Training.inherit(below.Training, e.Training)
	e.Tuning = e.Tuning.named()
	if e.Privacy.Clipping == ClippingFixed {
		e.Privacy.Clipping = "" // as in files of earlier versions
	}
	if len(e.Tuning.BatchSizes) == 0 && len(e.Tuning.SamplingRates) == 0 {
		e.Tuning.BatchSizes, e.Tuning.SamplingRates = below.Tuning.BatchSizes, below.Tuning.SamplingRates
	}
	if p := &e.Performance; p.Devices == nil {
		p.Devices = below.Performance.Devices
		if p.Engine == EngineCPU && below.Performance.Engine != EngineCPU {
			p.Devices = []int{}
		}
	}
	return nil
}

// inheritBudget takes epsilon and noise from a weaker layer if this one doesn't give them.
func (p *Privacy) inheritBudget(below Privacy) error {
	switch neither := p.Epsilon == nil && p.NoiseMultiplier == nil; {
	case p.Fixed == FixedNoise || neither:
		p.Epsilon = cmp.Or(p.Epsilon, below.Epsilon)
		p.NoiseMultiplier = cmp.Or(p.NoiseMultiplier, below.NoiseMultiplier)
	case p.Epsilon != nil && p.NoiseMultiplier != nil:
		return fmt.Errorf("privacy: %w", errBothGiven)
	}
	return nil
}

// Nearest returns the candidate most similar to a mistyped name, or "" if none is similar.
func Nearest(name string, candidates []string) string {
	return nearest.Name(candidates, func(c string) (int, bool) {
		d := nearest.Distance(name, c)
		return d, d <= tolerance(name)
	})
}

// Unknown returns the error for a name that isn't one of names. It has the most similar one, or else all.
func Unknown(what, name string, names []string) error {
	return unknown(what, name, names, "there are "+strings.Join(names, ", "))
}

func unknown(what, name string, names []string, otherwise string) error {
	if near := Nearest(name, names); near != "" {
		otherwise = "did you mean " + near + "?"
	}
	return fmt.Errorf("unknown %s %q; %s", what, name, otherwise)
}

// tolerance returns the maximum number of edits of a mistyped name: 0 for a single letter.
func tolerance(name string) int { return min(max(1, (len(name)+1)/3), len(name)-1) }
