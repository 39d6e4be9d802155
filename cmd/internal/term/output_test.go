package term

import (
	"errors"
	"fmt"
	"testing"

	"github.com/dptrain/dptrain/datasets/table"
)

// A terminal shows the cell, and so does --verbose.
func TestCited(t *testing.T) {
	err := fmt.Errorf("read: %w", errors.Join(&table.Error{File: "f", Problem: "wrong", Private: "the cell is \"x\"\n\x1b[2J"}, errors.New("close")))
	if got := cited(err, true); got != `; the cell is "x"  [2J` {
		t.Errorf("shown: %q", got)
	}
	if got := cited(err, false); got != "; --verbose shows what the file has there, which is private" {
		t.Errorf("not shown: %q", got)
	}
	for _, none := range []error{&table.Error{File: "f", Problem: "wrong"}, errors.New("other")} {
		if got := cited(none, true) + cited(none, false); got != "" {
			t.Errorf("%v: %q", none, got)
		}
	}
}
