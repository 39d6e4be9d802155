package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/cmd/internal/term"
)

func TestAccountEval(t *testing.T) {
	questions := `not json

{"id": "a", "function": "nope"}
{"id": [2], "function": "dp_epsilon", "params": {}}
{"function": "rdp_to_epsilon", "params": {"alpha": 2, "rdp": 0, "delta": 0.5}}
{"id": 5, "function": "rdp_to_epsilon", "params": {"alpha": 2, "rdp": 1, "delta": 0}}`
	var out bytes.Buffer
	if err := runAccountEval(strings.NewReader(questions), &out); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		var a evalAnswer
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatal(err)
		}
		kind := "value"
		if a.Error != "" {
			kind = "error"
		}
		if a.Value == "inf" {
			kind = "inf"
		}
		got = append(got, string(a.ID)+" "+kind)
	}
	want := "null error,\"a\" error,[2] error,null value,5 inf"
	if text := strings.Join(got, ","); text != want {
		t.Errorf("got %s, want %s", text, want)
	}
}

// Whatever the line, there is one answer, it is JSON, and it is a value or an error.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"id": 1, "function": "dp_epsilon", "params": {"gamma": 0.01, "sigma": 2, "steps": 100, "delta": 1e-5}}`))
	f.Add([]byte(`{"id": null, "function": "rdp_to_delta", "params": {"alpha": 2, "rdp": 1, "epsilon": 1}}`))
	f.Add([]byte(`{"id": 1, "params": [1e999]}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		var out bytes.Buffer
		if err := json.NewEncoder(&out).Encode(answer(line)); err != nil {
			t.Fatal(err)
		}
		var a evalAnswer
		if err := json.Unmarshal(out.Bytes(), &a); err != nil {
			t.Fatal(err)
		}
		if (a.Value == nil) == (a.Error == "") {
			t.Fatalf("neither or both of value and error: %s", out.Bytes())
		}
	})
}

// A line that never ends is an error, and those before it are answered.
func TestAccountEvalLongLine(t *testing.T) {
	const question = `{"id": 7, "function": "rdp_to_epsilon", "params": {"alpha": 2, "rdp": 0, "delta": 0.5}}`
	var out bytes.Buffer
	err := runAccountEval(strings.NewReader(question+"\n"+strings.Repeat("x", mostQuestion+1)), &out)
	if exitCode(err) != term.CodeInput || strings.Count(out.String(), `"value"`) != 1 {
		t.Errorf("%v, %s", err, out.String())
	}
}
