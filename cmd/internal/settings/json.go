package settings

import (
	"bytes"
	"encoding/json"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// JSON returns the settings file of [Experiment.YAML] as JSON, with the same keys in the same order. JSON is YAML too,
// so this file resolves to the same settings.
func (e Experiment) JSON() ([]byte, error) {
	text, err := e.YAML()
	if err != nil {
		return nil, err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("encode settings: %w", err)
	}
	var flat, out bytes.Buffer
	if err := writeJSON(&flat, doc.Content[0]); err != nil {
		return nil, fmt.Errorf("encode settings: %w", err)
	}
	if err := json.Indent(&out, flat.Bytes(), "", "  "); err != nil {
		return nil, fmt.Errorf("encode settings: %w", err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// writeJSON writes a node of the YAML package's own output, which has no aliases.
func writeJSON(b *bytes.Buffer, n *yaml.Node) error {
	switch n.Kind {
	case yaml.MappingNode:
		b.WriteByte('{')
		for i := 0; i < len(n.Content); i += 2 {
			if i > 0 {
				b.WriteByte(',')
			}
			writeText(b, n.Content[i].Value)
			b.WriteByte(':')
			if err := writeJSON(b, n.Content[i+1]); err != nil {
				return err
			}
		}
		b.WriteByte('}')
	case yaml.SequenceNode:
		b.WriteByte('[')
		for i, element := range n.Content {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := writeJSON(b, element); err != nil {
				return err
			}
		}
		b.WriteByte(']')
	case yaml.ScalarNode:
		switch tag := n.ShortTag(); {
		case tag == "!!str":
			writeText(b, n.Value)
		case json.Valid([]byte(n.Value)):
			b.WriteString(n.Value)
		default:
			return fmt.Errorf("%s is nothing that JSON has", n.Value)
		}
	default:
		return fmt.Errorf("a node of kind %d", n.Kind)
	}
	return nil
}

func writeText(b *bytes.Buffer, text string) {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // a text can't fail
}
