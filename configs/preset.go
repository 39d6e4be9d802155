package configs

import (
	"embed"
	"fmt"
	"slices"
	"strings"
)

// Files of data sets are at the root; layers/common.yaml is below all of them, and the other layers are laid over them.
//
//go:embed *.yaml layers/*.yaml
var files embed.FS

// Default is the data set that is used when none is named.
const Default = "glyphs"

// overlays are the layers that a preset's name may end with, in this order: mnist-adam-all.
var overlays = []string{"adam", "all"}

// adam is the optimizer of the overlay of its name, and the one that [Files] has without it.
const adam = "dp-adam"

// Datasets returns the names of the data sets that have presets.
func Datasets() []string {
	entries, _ := files.ReadDir(".") // the embedded root always reads
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".yaml"); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Presets returns the names of all presets: for each data set that of its name, by which DP-SGD tunes the learning rate,
// and those with DP-Adam, with batch size and epochs tuned as well, and with both.
func Presets() []string {
	var names []string
	for _, dataset := range Datasets() {
		for _, layers := range [][]string{nil, overlays[:1], overlays[1:], overlays} {
			names = append(names, strings.Join(append([]string{dataset}, layers...), "-"))
		}
	}
	return names
}

// layersOf takes a preset's name apart into data set and overlays.
func layersOf(preset string) (dataset string, over []string, ok bool) {
	if !slices.Contains(Presets(), preset) {
		return "", nil, false
	}
	for i := len(overlays) - 1; i >= 0; i-- {
		if rest, has := strings.CutSuffix(preset, "-"+overlays[i]); has {
			preset, over = rest, append([]string{overlays[i]}, over...)
		}
	}
	return preset, over, true
}

// Describe says in a line what a preset is for: the first lines of its files say it.
func Describe(preset string) (string, error) {
	dataset, over, ok := layersOf(preset)
	if !ok {
		return "", &UnknownPresetError{Name: preset}
	}
	e, err := Preset(dataset)
	if err != nil {
		return "", err
	}
	optimizer, tuned, same := "DP-SGD", "learning rate", ""
	if e.Training.Optimizer == adam {
		optimizer = firstLine("layers/adam.yaml")
	}
	for _, name := range over {
		switch name {
		case "adam":
			optimizer = firstLine("layers/adam.yaml")
			if e.Training.Optimizer == adam {
				same = "; the same as " + strings.Replace(preset, "-adam", "", 1)
			}
		case "all":
			tuned = firstLine("layers/all.yaml")
		}
	}
	return fmt.Sprintf("%s; %s; tunes %s%s", firstLine(dataset+".yaml"), optimizer, tuned, same), nil
}

// firstLine returns the comment that an embedded file begins with.
func firstLine(name string) string {
	text, _ := files.ReadFile(name) // it is embedded
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimPrefix(line, "# ")
}

// UnknownDatasetError says that no preset has the name.
type UnknownDatasetError struct{ Name string }

func (e *UnknownDatasetError) Error() string {
	return unknownName("data set", e.Name, Datasets(), "there are "+strings.Join(Datasets(), ", "))
}

// UnknownPresetError says that there is no such preset.
type UnknownPresetError struct{ Name string }

func (e *UnknownPresetError) Error() string {
	return unknownName("preset", e.Name, Presets(), "dptrain settings --presets lists them")
}

func unknownName(what, name string, names []string, otherwise string) string {
	hint := otherwise
	if near := Nearest(name, names); near != "" {
		hint = "did you mean " + near + "?"
	}
	return fmt.Sprintf("unknown %s %q; %s", what, name, hint)
}

// Preset returns the settings of a preset: see [Presets].
func Preset(name string) (Experiment, error) {
	dataset, over, ok := layersOf(name)
	if !ok {
		return Experiment{}, &UnknownPresetError{Name: name}
	}
	layers := []string{"layers/common.yaml", dataset + ".yaml"}
	for _, name := range over {
		layers = append(layers, "layers/"+name+".yaml")
	}
	var e Experiment
	for _, layer := range layers {
		if layer == "layers/adam.yaml" && e.Training.Optimizer == adam {
			continue // the data set has learning rates of its own for it
		}
		text, _ := files.ReadFile(layer) // it is embedded
		if err := e.decode(text); err != nil {
			return Experiment{}, fmt.Errorf("%s: %w", layer, err)
		}
	}
	e.Preset = name
	return e, nil
}
