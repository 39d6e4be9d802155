package strict

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestDecode(t *testing.T) {
	for text, want := range map[string]string{
		` {"a": 1} `: "", `{"a":1,"b":2}`: "unknown field", `{"a":1}{}`: "something follows", `{"a":1}]`: "something follows", `{"a":`: "EOF", ``: "EOF",
	} {
		var into struct{ A int }
		if err := Decode([]byte(text), &into); want == "" && (err != nil || into.A != 1) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %+v, %v, want %q", text, into, err, want)
		}
	}
}

func FuzzObject(f *testing.F) {
	for _, text := range []string{`{"a":1,"A":[{}]}`, `{"a":1,"\u0061":2}`, `[]`, `{}{}`, `{"a"}`, `{"a":1`, "{\"\xff\":1}", `{"a":1,}`, ``} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		members, err := Object(text)
		if err != nil {
			return
		}
		var all map[string]json.RawMessage // it has the last of two members with one name
		if err := json.Unmarshal(text, &all); err != nil || len(all) != len(members) {
			t.Errorf("%d members, and %d by encoding/json: %v", len(members), len(all), err)
		}
	})
}

func TestObject(t *testing.T) {
	for text, want := range map[string]string{
		`[]`: "not a JSON object", ``: "not a JSON object", `{"a":1,"\u0061":2}`: `"a" stands twice`, `{}x`: "something follows", `{"a":1`: "EOF",
	} {
		if _, err := Object([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if members, err := Object([]byte(`{"a":1,"A":[2]}`)); err != nil || len(members) != 2 || string(members["A"]) != "[2]" {
		t.Errorf("%s, %v", members, err)
	}
}
