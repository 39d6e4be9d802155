package settings

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/configs"
)

// Default is the name of the data set that [Resolve] uses if no setting names one.
const Default = "glyphs"

// overlays are the layers that a preset's name may end in, in this order: mnist-adam-all.
var overlays = []string{"adam", "all"}

// Datasets returns the names of the data sets that have presets.
func Datasets() []string {
	entries, _ := configs.Files.ReadDir(".") // reading the embedded root can't fail
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".yaml"); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Presets returns the names of all presets. Each data set has four: one with its own name, which tunes the learning
// rate of DP-SGD; one with DP-Adam; one that also tunes batch size and epochs; and one with both.
func Presets() []string {
	var names []string
	for _, dataset := range Datasets() {
		for _, layers := range [][]string{nil, overlays[:1], overlays[1:], overlays} {
			names = append(names, strings.Join(append([]string{dataset}, layers...), "-"))
		}
	}
	return names
}

// layersOf splits a preset's name into the data set and the overlays.
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

// Describe returns one line about a preset, made from the first lines of its files.
func Describe(preset string) (string, error) {
	e, err := Preset(preset)
	if err != nil {
		return "", err
	}
	optimizer, tuned, same := "DP-SGD", "learning rate", ""
	if e.Training.Optimizer == OptimizerAdam {
		optimizer = firstLine("layers/adam.yaml")
	}
	if e.Tunes(TuneBatch) {
		tuned = firstLine("layers/all.yaml")
	}
	// DP-Adam is the default of files.
	if plain := strings.Replace(preset, "-adam", "", 1); e.Dataset == Files && plain != preset {
		same = "; the same as " + plain
	}
	return fmt.Sprintf("%s; %s; tunes %s%s", firstLine(e.Dataset+".yaml"), optimizer, tuned, same), nil
}

// firstLine returns the comment at the beginning of an embedded file.
func firstLine(name string) string {
	text, _ := configs.Files.ReadFile(name) // embedded
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimPrefix(line, "# ")
}

// Preset returns the settings of a preset: see [Presets].
func Preset(name string) (Experiment, error) {
	dataset, over, ok := layersOf(name)
	if !ok {
		return Experiment{}, unknown("preset", name, Presets(), "dptrain settings --presets lists them")
	}
	layers := []string{"layers/common.yaml", dataset + ".yaml"}
	for _, name := range over {
		layers = append(layers, "layers/"+name+".yaml")
	}
	var e Experiment
	for _, layer := range layers {
		if layer == "layers/adam.yaml" && e.Training.Optimizer == OptimizerAdam {
			continue // the data set has learning rates of its own
		}
		if err := e.decodeEmbedded(layer); err != nil {
			return Experiment{}, err
		}
	}
	e.Preset = name
	return e, nil
}

// decodeEmbedded sets the settings of an embedded file in e.
func (e *Experiment) decodeEmbedded(name string) error {
	text, _ := configs.Files.ReadFile(name)
	if err := e.decode(text); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
