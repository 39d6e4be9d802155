package cuda

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var hash = flag.Bool("hash", false, "compare hashes only, and make no PTX")

// ptxTexts returns the committed PTX by file.
func ptxTexts() (map[string]string, error) {
	names, err := fs.Glob(ptxFiles, "kernels/ptx/*.ptx")
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, name := range names {
		text, err := ptxFiles.ReadFile(name)
		if err != nil {
			return nil, err
		}
		out[path.Base(name)] = string(text)
	}
	return out, nil
}

// The PTX that is committed was made of these sources, by this script. Where there is nvcc 11.8 it is made again, and
// must be the same.
func TestPTXIsThatOfTheSources(t *testing.T) {
	listed, err := os.ReadFile("kernels/ptx/sources.sha256")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for line := range strings.Lines(string(listed)) {
		sum, name, ok := strings.Cut(strings.TrimSpace(line), "  ")
		if !ok {
			t.Fatalf("line %q", line)
		}
		names = append(names, name)
		text, err := os.ReadFile("kernels/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if got := sha256.Sum256(text); hex.EncodeToString(got[:]) != sum {
			t.Errorf("%s has changed: run cuda/kernels/build and commit what it makes", name)
		}
	}
	var want []string
	for _, pattern := range []string{"*.cu", "*.cuh", "build"} {
		found, err := filepath.Glob("kernels/" + pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range found {
			want = append(want, filepath.Base(file))
		}
	}
	slices.Sort(names)
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Errorf("the PTX was made of %v, there are %v", names, want)
	}
	for _, source := range want {
		if module, ok := strings.CutSuffix(source, ".cu"); ok {
			if _, err := ptxFiles.ReadFile("kernels/ptx/" + module + ".ptx"); err != nil {
				t.Error(err)
			}
		}
	}
	if *hash || t.Failed() {
		return
	}
	if out, err := exec.Command("nvcc", "--version").Output(); err != nil || !strings.Contains(string(out), "release 11.8") {
		t.Log("no nvcc 11.8 here: the PTX isn't made again")
		return
	}
	const missing = 2 // ptxas 13.5
	out, err := exec.Command("kernels/build", "--check").CombinedOutput()
	if e, ok := errors.AsType[*exec.ExitError](err); ok && e.ExitCode() == missing {
		t.Logf("%s", out)
	} else if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// Engines promise results in doubles to the bit, which allows no contraction that the sources don't write, and no
// approximation. In single precision division and roots are rounded to nearest; CUDA's own exp and pow round some steps
// otherwise.
func TestPTXRoundsAsItIsWritten(t *testing.T) {
	texts, err := ptxTexts()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range texts {
		for line := range strings.Lines(text) {
			op, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			op, _, _ = strings.Cut(op, "\t")
			parts := strings.Split(op, ".")
			if !strings.HasSuffix(op, ".f64") && !strings.HasSuffix(op, ".f32") {
				continue
			}
			double := strings.HasSuffix(op, ".f64")
			switch parts[0] {
			case "add", "sub", "mul", "fma", "div", "sqrt":
				directed := !double && (slices.Contains(parts, "rm") || slices.Contains(parts, "rz"))
				if !slices.Contains(parts, "rn") && !(directed && (parts[0] == "add" || parts[0] == "fma")) {
					t.Errorf("%s: %s", name, strings.TrimSpace(line))
				}
			}
		}
	}
}

// Lanes of a warp meet at instructions that name all of them, not those that happen to be together. Every access names
// the kind of memory: a generic one takes longer.
func TestPTXNamesLanesAndMemory(t *testing.T) {
	generic := regexp.MustCompile(`\b(ld|st|atom|red)\.(volatile\.)?(add\.)?[usbf]\d`)
	texts, err := ptxTexts()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range texts {
		for line := range strings.Lines(text) {
			if strings.Contains(line, "activemask") || generic.MatchString(line) {
				t.Errorf("%s: %s", name, strings.TrimSpace(line))
			}
		}
	}
}

// A thread has at most as many registers as the largest number so far, and no kernel spills any to memory. What stack
// there is belongs to CUDA's own sine of large numbers.
func TestRegistersAndSpills(t *testing.T) {
	most := map[string]int{"clipped_sums": 193, "draw_minibatches": 63, "predict": 135, "release_and_update": 72}
	table, err := os.ReadFile("kernels/ptx/resources.txt")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(table)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var arch, kernel string
		var registers, spilled int
		_, err := fmt.Sscanf(strings.Replace(line, ":", " ", 1), "%s %s %d registers, %d spilled,", &arch, &kernel, &registers, &spilled)
		if err != nil || registers > most[kernel] || spilled > 0 {
			t.Errorf("%s: %d registers are allowed, %v", strings.TrimSpace(line), most[kernel], err)
		}
		rows++
	}
	if rows != 5*len(most) {
		t.Errorf("%d rows of %d kernels for five architectures", rows, len(most))
	}
}
