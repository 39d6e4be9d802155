package experiment

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cmd/internal/release"
	"github.com/dptrain/dptrain/datasets/table"
	"github.com/dptrain/dptrain/internal/networks"
)

// Whoever adds a field to the description of a released model, or a kind of layer, has to document it.
func TestModelFormatIsDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "model-format.md"))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, described := range []any{release.Model{}, inputOf{}, table.Schema{}} {
		jsonNames(reflect.TypeOf(described), names)
	}
	if !names["version"] || !names["kernel"] || !names["divisor"] || len(names) < 35 {
		t.Fatalf("the test finds only the fields %v", names)
	}
	for _, spec := range []string{"mlp", "cnn", "embedding"} {
		o := networks.Options{}
		if spec == "embedding" {
			o.Vocabulary = 9
		}
		layers, err := networks.Layers(spec, []int{14, 14}, 2, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range layers {
			names[string(l.Kind)] = true
		}
	}
	for name := range names {
		if !strings.Contains(string(text), "`"+name+"`") && !strings.Contains(string(text), "`input."+name+"`") {
			t.Errorf("docs/model-format.md doesn't name %s", name)
		}
	}
}

// jsonNames adds the names of a type's fields, and of the types in it, as they are in JSON.
func jsonNames(of reflect.Type, names map[string]bool) {
	switch {
	case of == reflect.TypeFor[json.RawMessage]():
	case of.Kind() == reflect.Pointer, of.Kind() == reflect.Slice:
		jsonNames(of.Elem(), names)
	case of.Kind() == reflect.Struct:
		for i := range of.NumField() {
			if name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ","); name != "" {
				names[name] = true
				jsonNames(of.Field(i).Type, names)
			}
		}
	}
}
