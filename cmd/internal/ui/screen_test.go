package ui

import (
	"os"
	"testing"
)

// A file gets lines of any length.
func TestAFileIsNoTerminal(t *testing.T) {
	file, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if s := ScreenOf(file); s.Terminal || s.Width() != 0 {
		t.Errorf("%+v of width %d", s, s.Width())
	}
}
