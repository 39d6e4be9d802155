package main

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/cmd/internal/engines"
	"github.com/dptrain/dptrain/cmd/internal/settings"
	"github.com/dptrain/dptrain/cmd/internal/term"
	"github.com/dptrain/dptrain/cmd/internal/ui"
)

// Every preset has the same keys and values in JSON as in YAML, and resolves to the same settings.
func TestSettingsAsJSON(t *testing.T) {
	for _, name := range settings.Presets() {
		e, err := settings.Preset(name)
		if err != nil {
			t.Fatal(err)
		}
		checkJSON(t, e)
	}
}

// The same holds for a settings file with columns and classes of any characters.
func TestSettingsAsJSONWithAnyNames(t *testing.T) {
	name := rapid.StringMatching(`[ -~é猫\t"\\<&]{0,6}[a-z0-9]`)
	rapid.Check(t, func(t *rapid.T) {
		e, err := settings.Preset(settings.Files)
		if err != nil {
			t.Fatal(err)
		}
		column := name.Draw(t, "column")
		e.Data = settings.Data{
			Train: "a.csv", Test: "b.csv", Label: strings.TrimSpace(name.Draw(t, "label")),
			Classes:    rapid.SliceOfNDistinct(name, 2, 4, rapid.ID).Draw(t, "classes"),
			Categories: map[string][]string{column: {"1", "yes", "null", name.Draw(t, "category")}},
			Clip:       map[string][2]float64{column: {-1e-300, rapid.Float64Range(-1e300, 1e300).Draw(t, "high")}},
		}
		checkJSON(t, e)
	})
}

func checkJSON(t interface {
	Fatal(...any)
	Errorf(string, ...any)
}, e settings.Experiment) {
	asYAML, err := e.YAML()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	g := newGlobal(engines.NVIDIA, &term.Output{To: &out}, &out, ui.Screen{})
	g.JSON = true
	if err := g.printSettings(string(asYAML)); err != nil {
		t.Fatal(err)
	}
	text := out.Bytes()
	var got, want any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(asYAML, &want); err != nil {
		t.Fatal(err)
	}
	if want = floats(want); !reflect.DeepEqual(got, want) {
		t.Errorf("%s: (-want +got)\n%s", e.Preset, cmp.Diff(want, got))
	}
	resolved, err := settings.Resolve(settings.File{Text: text}, nil)
	if err != nil || !cmp.Equal(resolved, e) {
		t.Errorf("%s: %v\n%s", e.Preset, err, cmp.Diff(e, resolved))
	}
}

// floats returns a value with float64 for its numbers, as JSON has them.
func floats(v any) any {
	switch v := v.(type) {
	case int:
		return float64(v)
	case []any:
		for i := range v {
			v[i] = floats(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = floats(v[key])
		}
	}
	return v
}
