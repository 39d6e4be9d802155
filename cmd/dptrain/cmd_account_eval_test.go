package main

import (
	"bytes"
	"encoding/json"
	"io"
	"runtime"
	"strings"
	"testing"
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

// repeating gives a text again and again.
type repeating struct {
	text []byte
	left int
}

func (r *repeating) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), r.left)], r.text)
	r.left -= n
	return n, nil
}

// A line that never ends is answered without being kept in memory, and the lines after it are answered as well.
func TestAccountEvalLongLine(t *testing.T) {
	const question = `{"id": 7, "function": "rdp_to_epsilon", "params": {"alpha": 2, "rdp": 0, "delta": 0.5}}`
	for _, c := range []struct {
		in   io.Reader
		want string
	}{
		{io.MultiReader(&repeating{bytes.Repeat([]byte("x"), 4096), 200 << 20}, strings.NewReader("\n"+question)), "null too long, 7 value"},
		{io.MultiReader(strings.NewReader(question+"\n"), &repeating{bytes.Repeat([]byte("x"), 4096), 20 << 20}), "7 value, null too long"},
		{io.MultiReader(strings.NewReader(question), &repeating{[]byte("    "), mostQuestion - len(question)}), "7 value"},
		{io.MultiReader(strings.NewReader(question), &repeating{[]byte("    "), mostQuestion - len(question) + 1}), "null too long"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var out bytes.Buffer
		if err := runAccountEval(c.in, &out); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if taken := (after.TotalAlloc - before.TotalAlloc) >> 20; taken > 32 {
			t.Errorf("%s: %d MB", c.want, taken)
		}
		var got []string
		for line := range strings.Lines(out.String()) {
			var a evalAnswer
			if err := json.Unmarshal([]byte(line), &a); err != nil {
				t.Fatal(err)
			}
			kind := "value"
			if strings.Contains(a.Error, "a line of more than 1048576 bytes") {
				kind = "too long"
			}
			got = append(got, string(a.ID)+" "+kind)
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("got %s, want %s", text, c.want)
		}
	}
}
