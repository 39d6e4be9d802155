package main

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
)

// A dry run says what one run of the MLP on MNIST takes, in both forms.
func TestMemoryIsPrinted(t *testing.T) {
	args := []string{"train", "--dataset", "mnist", "--model", "mlp", "--accounting", "paper", "--dry-run"}
	const want = 100e6 + 70000*784 + 3.4*4*70000*794 + 4*6*109930 + 16*60000 + 4*(10*109930+60000+10*10000)
	var printed map[string]any
	if err := json.Unmarshal([]byte(output(t, append(args, "--json")...)), &printed); err != nil {
		t.Fatal(err)
	}
	if got, _ := printed["memory_bytes"].(float64); math.Abs(got-want) > 1 {
		t.Errorf("memory_bytes %v, want %v", printed["memory_bytes"], want)
	}
	if text := output(t, args...); !strings.Contains(text, "memory   up to about 920 MB\n") {
		t.Errorf("the plan says\n%s", text)
	}
}
