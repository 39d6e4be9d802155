package remote

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
)

// timed are the fields of private/run.json that depend on the time that training took: how long it took, and learning
// curves, whose points are due after some time.
var timed = []string{"seconds", "final_seconds", "curve", "final_curve"}

// Digest returns a hash of all that equal draws on equal arithmetic make equal: what is released, the score, why there
// is no model, and private values but for times. Which machine trained isn't in it. It is private.
func (d Delivery) Digest() [sha256.Size]byte {
	h := sha256.New()
	add := func(part any) {
		text, err := json.Marshal(part)
		if err != nil { // of a number that no machine delivers
			text = []byte(err.Error())
		}
		sum := sha256.Sum256(text)
		h.Write(sum[:])
	}
	add([]any{d.Failure, string(d.Score.Metric), d.Score.Value, d.LearningRate, d.TunedLearningRate})
	for _, name := range slices.Sorted(maps.Keys(d.Released)) {
		sum := sha256.Sum256(d.Released[name])
		add([]any{name, sum[:]})
	}
	add(untimed(d.Private))
	return [sha256.Size]byte(h.Sum(nil))
}

// untimed returns the values of private/run.json without times. What isn't JSON it returns as it is.
func untimed(text []byte) any {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return text
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return text
	}
	return without(value)
}

func without(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range timed {
			delete(v, name)
		}
		for name := range v {
			v[name] = without(v[name])
		}
	case []any:
		for k := range v {
			v[k] = without(v[k])
		}
	}
	return value
}
