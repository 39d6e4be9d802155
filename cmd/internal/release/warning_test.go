package release

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A guarantee that holds but protects little says so, for people and for programs.
func TestWeakGuaranteesAreNotCertifiedInSilence(t *testing.T) {
	const n = 60000
	for _, c := range []struct {
		epsilon, delta float64
		insecure       bool
		want           []string // a part of each warning
	}{
		{4, 1e-5, false, nil},
		{10, 0.99 / n, false, nil},
		{10.001, 1e-5, false, []string{"epsilon 10.001 is above 10"}},
		{199890, 1e-5, false, []string{"up to 10^86812 times as likely"}},
		{3, 1.0 / n, false, []string{"is not below 1/60000"}},
		{3, 0.5, true, []string{"insecure seed", "delta 0.5 is not below"}},
		{12, 0.5, false, []string{"162755 times", "delta 0.5"}},
	} {
		r := example()
		r.Privacy.Epsilon, r.Privacy.Delta, r.Privacy.Insecure = c.epsilon, c.delta, c.insecure
		dir := t.TempDir()
		if err := r.Write(dir); err != nil {
			t.Fatal(err)
		}
		var got struct {
			Holds      bool     `json:"guarantee_holds"`
			Meaningful *bool    `json:"guarantee_is_meaningful"`
			Warnings   []string `json:"warnings"`
		}
		text, err := os.ReadFile(filepath.Join(dir, "privacy.json"))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		if got.Holds == c.insecure || got.Meaningful == nil || *got.Meaningful != (len(c.want) == 0) || len(got.Warnings) != len(c.want) {
			t.Fatalf("epsilon %v, delta %v: %s", c.epsilon, c.delta, text)
		}
		statement, err := os.ReadFile(filepath.Join(dir, "STATEMENT.md"))
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range c.want {
			if !strings.Contains(got.Warnings[i], want) {
				t.Errorf("warning %q, want %q in it", got.Warnings[i], want)
			}
			if strings.Contains(want, "insecure") {
				continue // a void statement has its own words
			}
			before, _, _ := strings.Cut(string(statement), "satisfy")
			if !strings.Contains(before, want) {
				t.Errorf("epsilon %v, delta %v: the statement doesn't begin with %q", c.epsilon, c.delta, want)
			}
		}
		if warned := strings.Contains(string(statement), "WARNING"); warned != (len(r.Privacy.Weaknesses()) > 0) {
			t.Errorf("epsilon %v, delta %v: the statement warns: %t", c.epsilon, c.delta, warned)
		}
	}
}

// A plan gets warnings before the run, and its release afterwards: each appears once.
func TestWarnedTwice(t *testing.T) {
	p := Privacy{Epsilon: 20, Delta: 0.5, Samples: 100, Insecure: true}.Warned().Warned()
	if len(p.Warnings) != 3 {
		t.Errorf("%q", p.Warnings)
	}
}
