package strict

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

var errMore = errors.New("something follows the JSON value")

// Decode decodes one JSON value. An unknown member is an error.
func Decode(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	return end(d)
}

// Object returns the members of one JSON object. A repeated name is an error.
func Object(text []byte) (map[string]json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if first, err := d.Token(); err != nil || first != json.Delim('{') {
		return nil, errors.New("not a JSON object")
	}
	members := map[string]json.RawMessage{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, err
		}
		name := token.(string) // the decoder accepts nothing else in an object
		if _, twice := members[name]; twice {
			return nil, fmt.Errorf("%q stands twice", name)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, fmt.Errorf("%q: %w", name, err)
		}
		members[name] = value
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	return members, end(d)
}

func end(d *json.Decoder) error {
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errMore
	}
	return nil
}
