package released

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/safetensors"
)

// A description of version 1 has no temperature, which means 1. One of version 2 may have one above 0.
func TestReadTakesVersions1To3(t *testing.T) {
	for _, c := range []struct {
		fields string
		want   float64
		refuse string
	}{
		{`"version": 1`, 1, ""},
		{`"version": 2`, 1, ""},
		{`"version": 3`, 1, ""},
		{`"version": 2, "temperature": null`, 1, ""},
		{`"version": 2, "temperature": 0.25`, 0.25, ""},
		{`"version": 2, "temperature": 0`, 0, "temperature 0, want a number above 0"},
		{`"version": 2, "temperature": -3`, 0, "temperature -3, want a number above 0"},
		{`"version": 2, "temperature": 1e999`, 0, "cannot unmarshal number"},
		{`"version": 1, "temperature": 2`, 0, "version 1 has no temperature"},
		{`"version": 1, "temperature": 0.5`, 0, "version 1 has no temperature"},
		{`"version": 2, "classes": ["a"]`, 0, "2 outputs and 1 classes"},
		{`"version": 2, "classes": ["a", "b", "c"]`, 0, "2 outputs and 3 classes"},
		{`"version": 0`, 0, "version 0, and this dptrain reads versions 1 to 3"},
		{`"version": 4`, 0, "version 4, and this dptrain reads versions 1 to 3"},
	} {
		path := filepath.Join(t.TempDir(), modelFile)
		if err := os.WriteFile(path, fmt.Appendf(nil, `{%s, "outputs": 2, "task": "classification"}`, c.fields), 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := readModel(path)
		switch {
		case c.refuse == "" && (err != nil || m.Temperature != c.want):
			t.Errorf("%s: temperature %v, %v; want %v", c.fields, m.Temperature, err, c.want)
		case c.refuse != "" && (!errors.Is(err, ErrNoModel) || !strings.Contains(err.Error(), c.refuse)):
			t.Errorf("%s: %v, want %q", c.fields, err, c.refuse)
		}
	}
}

// Parameters that aren't the described network's are refused, rather than read in a wrong layout.
func TestValuesAreTheNetworks(t *testing.T) {
	for want, change := range map[string]func(m *Model, all []safetensors.Tensor) []safetensors.Tensor{
		"": func(m *Model, all []safetensors.Tensor) []safetensors.Tensor { return all },
		"model mlp takes ": func(m *Model, all []safetensors.Tensor) []safetensors.Tensor {
			return append(all, safetensors.Tensor{Name: "x"})
		},
		"which isn't there": func(m *Model, all []safetensors.Tensor) []safetensors.Tensor {
			all[0].Shape = []int{len(all[0].Data)}
			return all
		},
		"its layers in model.json": func(m *Model, all []safetensors.Tensor) []safetensors.Tensor {
			m.Layers, _ = m.Described()
			slices.Reverse(m.Layers)
			return all
		},
	} {
		m := Model{Network: "mlp", Shape: []int{3}, Outputs: 2, Activation: Activation{Scale: 2, Temperature: 2, Offset: 1}}
		network, err := m.Build()
		if err != nil {
			t.Fatal(err)
		}
		var all []safetensors.Tensor
		for _, p := range network.Parameters {
			size := 1
			for _, n := range p.Shape() {
				size *= n
			}
			all = append(all, safetensors.Tensor{Name: p.Name(), Shape: p.Shape(), Data: make([]float32, size)})
		}
		if _, err := m.Values(network, change(&m, all)); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
