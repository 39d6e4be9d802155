package settings

import (
	"bytes"
	"encoding/json"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// JSON returns the settings file of [Experiment.YAML] as JSON, with the same keys. JSON is YAML too, so this file
// resolves to the same settings.
func (e Experiment) JSON() ([]byte, error) {
	text, err := e.YAML()
	if err != nil {
		return nil, err
	}
	var doc any
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("encode settings: %w", err)
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(doc); err != nil {
		return nil, fmt.Errorf("encode settings: %w", err)
	}
	return out.Bytes(), nil
}
