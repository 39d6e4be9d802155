package cuda

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/long"
)

// judges are the files that decide whether a mutant is found: kernels, emulated device, suite and these tests.
var judges = []string{
	"kernels/*.cu*", "kernels/ptx/*.ptx", "internal/emulator/*.h", "internal/emulator/*.go", "internal/ptx/*.go",
	"../internal/enginetest/*.go", "*_test.go",
}

// onlyIfChanged skips a test of mutants, which takes minutes, if it found all of them with the same judges before. Then
// testdata/NAME.sum is their hash; in make test-all the test always runs, and writes it.
func onlyIfChanged(t *testing.T) {
	t.Helper()
	kernelsOrSkip(t)
	h := sha256.New()
	for _, pattern := range judges {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(names), err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(h, "%s %d\n%s", filepath.ToSlash(name), len(text), text)
		}
	}
	sum, file := []byte(hex.EncodeToString(h.Sum(nil))+"\n"), filepath.Join("testdata", t.Name()+".sum")
	if !long.Tests() {
		if found, err := os.ReadFile(file); err == nil && bytes.Equal(found, sum) {
			t.Skip("neither kernels nor suite have changed since all mutants were found")
		}
		return
	}
	if strings.Contains(flag.Lookup("test.run").Value.String(), "/") {
		return // not all of them run
	}
	t.Cleanup(func() {
		if !t.Failed() {
			if err := os.WriteFile(file, sum, 0o644); err != nil {
				t.Error(err)
			}
		}
	})
}
